//! From header blocks and ends of streams to events.

use super::grpc::{self, Messages};
use super::hpack::{Block, Known};
use super::{Head, Http2};
use crate::protocols::http::{fields, head::decimal, target::Target};
use crate::trace::Carrier;
use crate::{Input, Key, Message, Name, Notice, Out, Role, Status};
use model::Dir;

/// OpenTelemetry's name of the version.
const VERSION: Name = Name::Attribute("network.protocol.version");

impl Http2 {
    /// A header block is decoded: it is in `self.block`.
    pub(super) fn headers(&mut self, input: &Input<'_>, out: &mut Out, head: Head) {
        match (input.dir, head.promised) {
            (Dir::ToClient, Some(promised)) => self.promise(input, out, head, promised),
            (_, Some(_)) => {}
            (Dir::ToServer, None) => self.request(input, out, head),
            (Dir::ToClient, None) => self.response(input, out, head),
        }
    }

    fn request(&mut self, input: &Input<'_>, out: &mut Out, head: Head) {
        if let Some(stream) = self.streams.find(head.stream)
            && stream.half(Dir::ToServer).begun
        {
            let half = stream.half(Dir::ToServer);
            half.bytes = half.bytes.saturating_add(head.size);
            if head.end {
                self.end(input, out, head.stream, true);
            }
            return;
        }
        // Without pseudo-header fields it is the trailer section of a request that was not seen.
        let pseudo = [Known::Method, Known::Path, Known::Authority, Known::Scheme];
        if self.streams.is_closed(head.stream) || pseudo.iter().all(|name| self.block.get(*name).is_none()) {
            return;
        }
        self.open(input, out, head.stream);
        self.streams.asked(head.stream);
        let key = Key::Id(u64::from(head.stream));
        let grpc = self.block.get(Known::ContentType).is_some_and(grpc::is_grpc);
        let show = out.limits().show_secrets;
        let message = out.begin_at(Dir::ToServer, head.first, Role::Request, key);
        request_fields(message, &self.block, grpc, show);
        if let Some(stream) = self.streams.find(head.stream) {
            stream.grpc = grpc;
            let half = stream.half(Dir::ToServer);
            half.begun = true;
            half.bytes = head.size;
            half.messages = grpc.then(Messages::default);
        }
        if head.end {
            self.end(input, out, head.stream, false);
        }
    }

    /// A request that the server makes for the client.
    fn promise(&mut self, input: &Input<'_>, out: &mut Out, head: Head, promised: u32) {
        self.open(input, out, promised);
        let key = Key::Id(u64::from(promised));
        let show = out.limits().show_secrets;
        let message = out.begin_at(Dir::ToServer, head.first, Role::Request, key);
        request_fields(message, &self.block, false, show).flag(Name::Attribute("http.request.pushed"), true);
        out.end_at(Dir::ToServer, input.time, Role::Request, key, head.size, Status::Unset);
        if let Some(stream) = self.streams.find(promised) {
            let half = stream.half(Dir::ToServer);
            (half.begun, half.ended, half.bytes) = (true, true, head.size);
        }
    }

    fn response(&mut self, input: &Input<'_>, out: &mut Out, head: Head) {
        let code = self.block.get(Known::Status).and_then(decimal).and_then(|code| u16::try_from(code).ok());
        let mut certain = code.is_some();
        let mut known = false;
        if let Some(stream) = self.streams.find(head.stream) {
            let half = stream.half(Dir::ToClient);
            if half.begun {
                half.bytes = half.bytes.saturating_add(head.size);
                if head.end {
                    self.end(input, out, head.stream, true);
                }
                return;
            }
            known = true;
            // A status that was inserted unseen: the first header block of a response has one.
            certain |= self.block.unknown && !half.missed;
        }
        let interim = code.is_some_and(|code| (100..200).contains(&code));
        if interim || !certain || (!known && self.streams.is_closed(head.stream)) {
            return;
        }
        if !known {
            self.open(input, out, head.stream);
        }
        let Some(stream) = self.streams.find(head.stream) else { return };
        let content_type = self.block.get(Known::ContentType);
        stream.grpc |= content_type.is_some_and(grpc::is_grpc);
        stream.code = code.unwrap_or(0);
        let grpc = stream.grpc;
        stream.unsure = !grpc && content_type.is_none() && self.block.unknown;
        let unsure = stream.unsure;
        let half = stream.half(Dir::ToClient);
        half.begun = true;
        half.bytes = head.size;
        half.messages = grpc.then(Messages::default);
        let key = Key::Id(u64::from(head.stream));
        let mut message = out.begin_at(Dir::ToClient, head.first, Role::Response, key);
        message = match grpc {
            // The status of a call is told at its end.
            true => message.protocol("grpc"),
            false => fields::response(message, code.filter(|_| !unsure), content_type),
        };
        if self.block.unknown {
            message.notice(Notice::Unknown);
        }
        if head.end {
            self.end(input, out, head.stream, true);
        }
    }

    fn open(&mut self, input: &Input<'_>, out: &mut Out, id: u32) {
        if let Some(evicted) = self.streams.open(id) {
            out.cut(input.time, Key::Id(u64::from(evicted)), "evicted");
        }
    }

    /// One side of a stream has ended; `told`: with the header block in `self.block`.
    pub(super) fn end(&mut self, input: &Input<'_>, out: &mut Out, id: u32, told: bool) {
        let Some(stream) = self.streams.find(id) else { return };
        let half = stream.half(input.dir);
        if !half.begun || half.ended {
            return;
        }
        half.ended = true;
        let half = *half;
        let [request, response] = stream.halves;
        let (grpc, code, unsure) = (stream.grpc, stream.code, stream.unsure);
        let block = told.then_some(&self.block);
        // Joined late, a call may be recognised by its status alone.
        let revealed = unsure && block.is_some_and(|block| block.get(Known::GrpcStatus).is_some());
        let over = response.ended && (request.ended || !request.begun);
        let key = Key::Id(u64::from(id));
        match input.dir {
            Dir::ToServer => {
                let message = out.end(input, Role::Request, key, half.bytes, Status::Unset);
                let message = size(message, "http.request.body.size", half.body);
                if let Some(messages) = half.messages {
                    messages.write(message, "rpc.request.messages", "rpc.request.compressed");
                }
            }
            Dir::ToClient if grpc || revealed => {
                let status = call_status(block);
                let message = out.end(input, Role::Response, key, half.bytes, status);
                let message = size(message, "http.response.body.size", half.body);
                let message = call_end(message, block, code, &mut self.text);
                let message = if revealed { message.protocol("grpc") } else { message };
                if let Some(messages) = half.messages {
                    let message = messages.write(message, "rpc.response.messages", "rpc.response.compressed");
                    streaming(message, request.messages, messages);
                }
            }
            Dir::ToClient => {
                // Trailers that cannot be read may hold the status of a call.
                let open = unsure && block.is_some_and(|block| block.unknown);
                let status = if open && code < 400 { Status::Unset } else { fields::status(code) };
                let mut message = out.end(input, Role::Response, key, half.bytes, status);
                message = size(message, "http.response.body.size", half.body);
                if unsure && code != 0 {
                    message.text(Name::StatusCode, &fields::digits(code));
                }
            }
        }
        if over {
            self.streams.close(id);
        }
    }
}

fn request_fields<'o>(message: Message<'o>, block: &Block, grpc: bool, show: bool) -> Message<'o> {
    let (method, path) = (block.get(Known::Method), block.get(Known::Path));
    let authority = block.get(Known::Authority);
    let connect = method == Some(b"CONNECT") && path.is_none();
    let target = match (path, authority) {
        (None, Some(authority)) if connect => Some(Target::parse(b"CONNECT", authority)),
        (path, _) => path.map(|path| Target::parse(b"", path)),
    };
    let request = fields::Request {
        method: method.filter(|_| !grpc),
        target: target.filter(|_| !grpc),
        host: authority.or_else(|| block.get(Known::Host)),
        user_agent: block.get(Known::UserAgent),
        content_type: block.get(Known::ContentType).filter(|_| !grpc),
        trace: Carrier {
            traceparent: block.get(Known::Traceparent),
            b3: block.get(Known::B3),
            b3_trace: block.get(Known::B3Trace),
            b3_span: block.get(Known::B3Span),
        },
    };
    let mut message = fields::request(message, &request, show);
    if grpc {
        message = call_fields(message, block, path);
    }
    message = message.label(VERSION, "2");
    match (block.unknown, method.is_none() || target.is_none()) {
        (true, _) => message.notice(Notice::Unknown),
        (false, true) => message.notice(Notice::Malformed),
        _ => message,
    }
}

fn call_fields<'o>(message: Message<'o>, block: &Block, path: Option<&[u8]>) -> Message<'o> {
    let mut message = message.protocol("grpc").label(Name::Attribute("rpc.system"), "grpc");
    if let Some(path) = path {
        let (call, method) = grpc::method(path);
        message = message.text(Name::Operation, method).text(Name::Resource, call);
    }
    if let Some(timeout) = block.get(Known::GrpcTimeout).and_then(grpc::timeout_ms) {
        message = message.int(Name::Attribute("rpc.grpc.timeout_ms"), timeout);
    }
    let encoding = block.get(Known::GrpcEncoding).filter(|encoding| *encoding != b"identity");
    fields::text(message, Name::Attribute("rpc.grpc.request.metadata.grpc-encoding"), encoding)
}

/// How a call went, by the header block that ended it.
fn call_status(block: Option<&Block>) -> Status {
    match block.map(|block| (block.get(Known::GrpcStatus), block.unknown)) {
        Some((Some(b"0"), _)) => Status::Ok,
        Some((None, true)) => Status::Unset,
        // A client takes a call that ends without a status for failed.
        _ => Status::Error,
    }
}

fn call_end<'o>(message: Message<'o>, block: Option<&Block>, code: u16, text: &mut Vec<u8>) -> Message<'o> {
    let status = block.and_then(|block| block.get(Known::GrpcStatus));
    let unknown = block.is_some_and(|block| block.unknown);
    let mut message = match status {
        Some(status) => message.text(Name::StatusCode, status),
        None if unknown => message.notice(Notice::Unknown),
        None if code != 200 && code != 0 => message.text(Name::StatusCode, &fields::digits(code)),
        None => message.notice(Notice::Malformed),
    };
    if let Some(error) = block.and_then(|block| block.get(Known::GrpcMessage))
        && !error.is_empty()
    {
        grpc::percent_decode(error, text);
        message = message.text(Name::Error, text);
    }
    message
}

/// The kind of a call, as far as its messages show it: a stream of one message looks like none.
fn streaming<'o>(message: Message<'o>, request: Option<Messages>, response: Messages) -> Message<'o> {
    let kind = match (request.is_some_and(|request| request.count > 1), response.count > 1) {
        (true, true) => "bidi",
        (true, false) => "client",
        (false, true) => "server",
        (false, false) => return message,
    };
    message.label(Name::Attribute("rpc.streaming"), kind)
}

fn size<'o>(message: Message<'o>, name: &'static str, body: u64) -> Message<'o> {
    match body {
        0 => message,
        body => message.int(Name::Attribute(name), i64::try_from(body).unwrap_or(i64::MAX)),
    }
}
