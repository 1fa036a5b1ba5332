"""Talks to RabbitMQ in every way that the live test compares, and prints a line for each roundtrip: method, what it is
about, and how it ends (a code of the broker, else answered or one_way)."""

import sys

import pika
from pika.exceptions import ChannelClosedByBroker, UnroutableError

PORT = int(sys.argv[1])


def did(method, about="-", end="answered", times=1):
    for _ in range(times):
        print(method, about, end)


def connect():
    link = pika.BlockingConnection(pika.ConnectionParameters("127.0.0.1", PORT, heartbeat=0, blocked_connection_timeout=20))
    did("connection.start")
    did("connection.tune")
    did("connection.open", "/")
    return link


def channel(link):
    did("channel.open")
    return link.channel()


def topology(ch):
    ch.exchange_declare("orders", "topic", durable=False)
    did("exchange.declare", "orders")
    for queue in ("all", "some"):
        ch.queue_declare(queue, exclusive=False, auto_delete=False)
        did("queue.declare", queue)
    ch.queue_bind("all", "orders", "#")
    did("queue.bind", "all")
    ch.queue_bind("some", "orders", "eu.*")
    did("queue.bind", "some")


def publish(ch):
    # Nobody confirms these: they are one-way. The second size takes several frames.
    for size in (100, 400_000):
        for key in ("eu.one", "us.two"):
            ch.basic_publish("orders", key, b"x" * size, pika.BasicProperties(content_type="text/plain", correlation_id="c-1"))
            did("basic.publish", f"orders:{key}", "one_way")


def confirm(link):
    ch = channel(link)
    ch.confirm_delivery()
    did("confirm.select")
    for _ in range(20):
        ch.basic_publish("orders", "eu.one", b"kept", mandatory=True)
        did("basic.publish", "orders:eu.one")
    try:
        ch.basic_publish("", "no-such-queue", b"nobody wants it", mandatory=True)
    except UnroutableError:
        did("basic.publish", "no-such-queue")
        did("basic.return", "no-such-queue", "312")
    ch.close()
    did("channel.close")


def get(ch):
    for _ in range(10):
        method, _, _ = ch.basic_get("some", auto_ack=False)
        did("basic.get", "some")
        ch.basic_ack(method.delivery_tag)
        did("basic.ack", end="one_way")


def consume(link):
    """Takes what is left of `some`, and hands one message back."""
    ch = channel(link)
    ch.basic_qos(prefetch_count=100)
    did("basic.qos")
    left = ch.queue_declare("some", passive=True).method.message_count
    did("queue.declare", "some")
    did("basic.consume", "some")
    seen = 0
    for method, _, body in ch.consume("some"):
        did("basic.deliver", method.exchange + ":" + method.routing_key, "one_way")
        seen += 1
        if seen == 1:
            ch.basic_nack(method.delivery_tag, requeue=False)
            did("basic.nack", end="one_way")
        else:
            ch.basic_ack(method.delivery_tag)
            did("basic.ack", end="one_way")
        if seen == left:
            break
    ch.cancel()
    did("basic.cancel", method.consumer_tag)
    ch.close()
    did("channel.close")


def transaction(link):
    ch = channel(link)
    ch.tx_select()
    did("tx.select")
    for end in (ch.tx_commit, ch.tx_rollback):
        ch.basic_publish("orders", "us.two", b"in a transaction")
        did("basic.publish", "orders:us.two", "one_way")
        end()
        did("tx.commit" if end == ch.tx_commit else "tx.rollback")
    ch.close()
    did("channel.close")


def errors(link):
    """The broker answers with the end of the channel."""
    for ask, method, about, code in (
        (lambda ch: ch.queue_declare("nowhere", passive=True), "queue.declare", "nowhere", "404"),
        (lambda ch: ch.queue_declare("all", durable=True), "queue.declare", "all", "406"),
        (lambda ch: ch.exchange_declare("amq.mine"), "exchange.declare", "amq.mine", "403"),
    ):
        try:
            ask(channel(link))
        except ChannelClosedByBroker as closed:
            did(method, about, str(closed.reply_code))
    # The same for what has no answer: the end of the channel stands for itself.
    ch = channel(link)
    ch.basic_publish("no-such-exchange", "x", b"")
    did("basic.publish", "no-such-exchange:x", "one_way")
    while ch.is_open:
        link.process_data_events(time_limit=1)
    did("channel.close", end="404")


link, other = connect(), connect()
first, second = channel(link), channel(other)
topology(first)
publish(first)
publish(second)
confirm(link)
get(second)
consume(other)
transaction(link)
errors(other)
for queue in ("all", "some"):
    first.queue_purge(queue)
    did("queue.purge", queue)
    first.queue_delete(queue)
    did("queue.delete", queue)
first.exchange_delete("orders")
did("exchange.delete", "orders")
for link, ch in ((link, first), (other, second)):
    ch.close()
    did("channel.close")
    link.close()
    did("connection.close")
