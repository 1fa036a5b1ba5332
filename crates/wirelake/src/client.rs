//! Where the questions of the command line go: to a running server, or to a lake folder.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use lake::ask;
use lake::{Codec, Engine, EngineOptions, FileOptions, FlushLimits, Lake, LakeOptions};
use model::{CallMessage, Media, Nanos};
use reqwest::blocking::{Client, Response};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::cli::Source;
use crate::output::{ColumnName, Rows};

/// Longer than any query may run.
const TIMEOUT: Duration = Duration::from_secs(600);

/// Someone to ask.
pub enum Lakeside {
    /// A running server.
    Server { client: Client, base: String, token: Option<String> },
    /// A folder, read by this process.
    Folder(Box<Engine>),
}

impl Lakeside {
    /// Whom the flags name.
    ///
    /// # Errors
    /// When the folder is no lake.
    pub fn new(source: &Source) -> Result<Self> {
        if let Some(folder) = &source.data {
            return Ok(Self::Folder(Box::new(open(folder)?)));
        }
        let client = Client::builder().timeout(TIMEOUT).build().context("no HTTP client")?;
        let base = source.server.trim_end_matches('/').to_owned();
        let base = if base.contains("://") { base } else { format!("http://{base}") };
        Ok(Self::Server { client, base, token: source.token.clone() })
    }

    /// Runs one statement.
    ///
    /// # Errors
    /// The server's or the engine's sentence.
    pub fn sql(&self, query: &str, limit: usize) -> Result<Rows> {
        match self {
            Self::Server { client, base, .. } => {
                let body = serde_json::json!({ "query": query, "limit": limit });
                let request = client.post(format!("{base}/api/sql")).json(&body);
                rows_of(&self.send(request)?)
            }
            Self::Folder(engine) => rows(&engine.query(query, limit)?),
        }
    }

    /// Searches.
    ///
    /// # Errors
    /// Which filter is wrong, or what the server or the engine says.
    pub fn search(&self, search: &ask::Search) -> Result<Rows> {
        match self {
            Self::Server { client, base, .. } => {
                rows_of(&self.send(client.get(format!("{base}/api/search")).query(search))?)
            }
            Self::Folder(engine) => rows(&search.run(engine, jiff::Timestamp::now())?),
        }
    }

    /// The messages of a call, and the server's JSON where there is one.
    ///
    /// # Errors
    /// When there is no such call.
    pub fn call(&self, call_id: &str) -> Result<(Vec<CallMessage>, Value)> {
        match self {
            Self::Server { client, base, .. } => {
                let mut url =
                    reqwest::Url::parse(&format!("{base}/api/calls")).context("--server is no URL")?;
                url.path_segments_mut().map_err(|()| anyhow!("--server is no URL"))?.push(call_id);
                let text = self.send(client.get(url))?;
                let value: Value = serde_json::from_str(&text)?;
                let messages = value["messages"].as_array().map(|list| list.iter().map(message).collect());
                Ok((messages.unwrap_or_default(), value))
            }
            Self::Folder(engine) => {
                let rows = ask::call(engine, call_id)?;
                if rows.messages.is_empty() {
                    bail!("there is no call with the Call-ID {call_id}");
                }
                let value = api::call_json(call_id, &rows);
                Ok((rows.messages, value))
            }
        }
    }

    /// The body of the answer to a GET, for what only a running server knows.
    ///
    /// # Errors
    /// The server's sentence.
    pub fn get(&self, path: &str) -> Result<String> {
        let Self::Server { client, base, .. } = self else { bail!("a folder does not run") };
        self.send(client.get(format!("{base}{path}")))
    }

    fn send(&self, request: reqwest::blocking::RequestBuilder) -> Result<String> {
        let Self::Server { base, token, .. } = self else { bail!("no server") };
        let request = match token {
            Some(token) => request.bearer_auth(token),
            None => request,
        };
        let response: Response = request.send().map_err(|error| {
            if error.is_connect() {
                anyhow!("no wirelake answers at {base}; start one with `wirelake serve`, name another with --server, or read a folder with --data")
            } else if error.is_builder() {
                anyhow!("{base} is no URL of a server; write it like http://127.0.0.1:8080")
            } else {
                anyhow!(error)
            }
        })?;
        let status = response.status();
        let text = response.text()?;
        if status.is_success() {
            return Ok(text);
        }
        let value: Value = serde_json::from_str(&text).unwrap_or_default();
        match value["error"].as_str() {
            Some(sentence) => bail!("{sentence}"),
            None => bail!("{base} answered {status}; is it a wirelake?"),
        }
    }
}

fn rows(answer: &lake::Answer) -> Result<Rows> {
    let mut rows = Vec::new();
    export::rows::json(&answer.batches, &mut rows)?;
    Ok(Rows {
        columns: answer.schema.fields().iter().map(|field| ColumnName::new(field.name())).collect(),
        rows: RawValue::from_string(String::from_utf8(rows)?)?,
        truncated: answer.truncated,
        elapsed_ms: (answer.elapsed.as_secs_f64() * 1e6).round() / 1e3,
        scan: answer.scan.iter().map(|report| serde_json::json!(report)).collect(),
    })
}

fn rows_of(text: &str) -> Result<Rows> {
    serde_json::from_str(text).context("the server's answer is not what this version expects")
}

fn open(folder: &Path) -> Result<Engine> {
    let options = LakeOptions {
        flush: FlushLimits { rows: usize::MAX, bytes: usize::MAX, age: Duration::MAX },
        file: FileOptions { compression: Codec::None, row_group_rows: 1 },
        writers: 0,
        hot_limit_bytes: usize::MAX,
        close_timeout: Duration::ZERO,
    };
    let lake = Lake::read_only(folder, options)?;
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let options = EngineOptions { memory_mib: 1_024, bloom_mib: 64, threads, timeout: TIMEOUT };
    Ok(Engine::new(lake, &options)?)
}

/// A message out of the API's JSON.
fn message(value: &Value) -> CallMessage {
    let text = |name: &str| value[name].as_str().map(str::to_owned);
    let number = |name: &str| value[name].as_u64();
    let port = |name: &str| number(name).and_then(|port| u16::try_from(port).ok()).unwrap_or(0);
    let time = value["ts"].as_str().and_then(|ts| ts.parse::<jiff::Timestamp>().ok());
    let base64 = value["payload_base64"].as_str().and_then(api::from_base64);
    CallMessage {
        time: time.map_or(Nanos(0), |time| Nanos::from_micros(time.as_microsecond())),
        src_ip: text("src_ip").and_then(|ip| ip.parse().ok()),
        src_port: port("src_port"),
        dst_ip: text("dst_ip").and_then(|ip| ip.parse().ok()),
        dst_port: port("dst_port"),
        ip_proto: match value["transport"].as_str() {
            Some("tcp") => 6,
            Some("sctp") => 132,
            Some(other) => other.parse().unwrap_or(17),
            None => 17,
        },
        vlan: number("vlan").and_then(|vlan| u16::try_from(vlan).ok()),
        call_id: text("call_id").unwrap_or_default(),
        cid: text("cid"),
        method: text("method"),
        code: number("code").and_then(|code| u16::try_from(code).ok()),
        reason: text("reason"),
        cseq: number("cseq").and_then(|cseq| u32::try_from(cseq).ok()),
        from_user: text("from_user"),
        from_host: text("from_host"),
        from_tag: text("from_tag"),
        to_user: text("to_user"),
        to_host: text("to_host"),
        to_tag: text("to_tag"),
        user_agent: text("user_agent"),
        node_id: number("node_id").and_then(|id| u32::try_from(id).ok()),
        node_name: text("node_name"),
        parse_error: text("parse_error"),
        payload: base64.or_else(|| text("payload").map(String::into_bytes)).unwrap_or_default(),
        media: value["media"]
            .as_array()
            .map(|list| {
                list.iter()
                    .map(|media| Media {
                        kind: media["kind"].as_str().unwrap_or_default().to_owned(),
                        address: media["ip"].as_str().unwrap_or_default().to_owned(),
                        port: media["port"].as_u64().and_then(|port| u16::try_from(port).ok()).unwrap_or(0),
                    })
                    .collect()
            })
            .unwrap_or_default(),
    }
}
