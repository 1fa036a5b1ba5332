import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * The Kafka clients of the live test: `Talk SERVER all`, or `Talk SERVER hold`, which connects, works, says "ready", waits
 * for a line on standard input and works again over the same connections. What they did is in the log of NetworkClient.
 */
public final class Talk {
    private static String server;

    public static void main(String[] args) throws Exception {
        server = args[0];
        if (args[1].equals("all")) all();
        else hold();
    }

    private static Map<String, Object> config(String client, String... more) {
        var config = new java.util.HashMap<String, Object>();
        config.put("bootstrap.servers", server);
        config.put("client.id", client);
        config.put("enable.metrics.push", "false");
        for (int i = 0; i < more.length; i += 2) config.put(more[i], more[i + 1]);
        return config;
    }

    private static Producer<byte[], byte[]> producer(String client, String... more) {
        return new KafkaProducer<>(config(client, more), new ByteArraySerializer(), new ByteArraySerializer());
    }

    private static Consumer<byte[], byte[]> consumer(String client, String group, String... more) {
        var config = config(client, more);
        config.put("group.id", group);
        config.put("auto.offset.reset", "earliest");
        config.put("enable.auto.commit", "false");
        return new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }

    private interface Asked {
        void ask() throws Exception;
    }

    /** What the broker must refuse. */
    private static void refused(Asked asked) throws Exception {
        try {
            asked.ask();
        } catch (ExecutionException refused) {
            return;
        }
        throw new IllegalStateException("was not refused");
    }

    private static ProducerRecord<byte[], byte[]> record(String topic, int size) {
        return new ProducerRecord<>(topic, new byte[size]);
    }

    private static void send(Producer<byte[], byte[]> producer, String topic, int times, int size) throws Exception {
        for (int i = 0; i < times; i++) producer.send(record(topic, size)).get();
    }

    private static int read(Consumer<byte[], byte[]> consumer, int wanted) {
        int seen = 0;
        for (int i = 0; i < 100 && seen < wanted; i++) seen += consumer.poll(Duration.ofMillis(200)).count();
        if (seen < wanted) throw new IllegalStateException("read " + seen + " of " + wanted);
        consumer.commitSync();
        return seen;
    }

    private static void topics(Admin admin, String... names) throws Exception {
        var topics = new ArrayList<NewTopic>();
        for (String name : names) topics.add(new NewTopic(name, 2, (short) 1).configs(Map.of("max.message.bytes", "600000")));
        admin.createTopics(topics).all().get();
    }

    private static void all() throws Exception {
        try (Admin admin = Admin.create(config("live-admin"))) {
            topics(admin, "orders", "events");
            refused(() -> topics(admin, "orders"));
            refused(() -> admin.deleteTopics(List.of("nowhere")).all().get());
            admin.describeCluster().nodes().get();
            admin.listTopics().names().get();
            admin.describeTopics(List.of("orders")).allTopicNames().get();
            try (var acked = producer("live-all", "acks", "all", "compression.type", "gzip")) {
                send(acked, "orders", 100, 200);
                send(acked, "orders", 3, 500_000);
            }
            try (var acked = producer("live-one", "acks", "1", "enable.idempotence", "false", "max.request.size", "5000000")) {
                send(acked, "orders", 100, 200);
                refused(() -> send(acked, "orders", 1, 1_000_000));
            }
            try (var silent = producer("live-zero", "acks", "0", "enable.idempotence", "false")) {
                send(silent, "events", 50, 200);
            }
            try (var exactly = producer("live-transaction", "transactional.id", "live-1")) {
                exactly.initTransactions();
                exactly.beginTransaction();
                send(exactly, "events", 10, 100);
                exactly.commitTransaction();
                exactly.beginTransaction();
                send(exactly, "events", 5, 100);
                exactly.abortTransaction();
            }
            try (var classic = consumer("live-classic", "readers")) {
                classic.subscribe(List.of("orders"));
                read(classic, 203);
            }
            try (var modern = consumer("live-modern", "new-readers", "group.protocol", "consumer", "isolation.level", "read_committed")) {
                modern.subscribe(List.of("orders", "events"));
                read(modern, 263);
            }
            admin.listGroups().all().get();
            admin.deleteConsumerGroups(List.of("readers")).all().get();
            refused(() -> admin.deleteConsumerGroups(List.of("no-readers")).all().get());
            admin.deleteTopics(List.of("orders", "events")).all().get();
        }
    }

    private static void hold() throws Exception {
        try (Admin admin = Admin.create(config("live-admin"))) {
            topics(admin, "held");
            try (var acked = producer("live-all", "acks", "all"); var classic = consumer("live-classic", "held-readers", "heartbeat.interval.ms", "14000")) {
                classic.subscribe(List.of("held"));
                send(acked, "held", 20, 100);
                read(classic, 20);
                System.out.println("ready");
                if (System.in.read() < 0) throw new IOException("nobody says when to go on");
                send(acked, "held", 20, 100);
                read(classic, 20);
                refused(() -> topics(admin, "held"));
            }
            admin.deleteTopics(List.of("held")).all().get();
        }
    }
}
