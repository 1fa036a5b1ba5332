//! Who may ask.
//!
//! With a token every request carries it: `Authorization: Bearer TOKEN`, or the cookie that opening the
//! page as `/?token=TOKEN` sets. Without one only this machine is served, and only under its own name:
//! a web page elsewhere must not be able to reach it through a name that resolves to 127.0.0.1.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Redirect, Response};
use subtle::ConstantTimeEq;

use crate::app::App;
use crate::error::Refusal;

const COOKIE: &str = "wirelake_token";

/// Lets a request through or refuses it.
pub async fn check(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let Some(token) = app.token() else {
        if !app.exposed && !names_this_machine(request.headers()) {
            let sentence =
                "this address serves 127.0.0.1 and localhost only; set api.token to serve other names";
            return Refusal(StatusCode::FORBIDDEN, sentence.to_owned()).into_response();
        }
        return secured(next.run(request).await);
    };
    if let Some(given) = query_token(&request) {
        if same(&given, &token) {
            let cookie = format!("{COOKIE}={given}; Path=/; HttpOnly; SameSite=Strict");
            let mut response = Redirect::to("/").into_response();
            if let Ok(cookie) = HeaderValue::from_str(&cookie) {
                response.headers_mut().insert(header::SET_COOKIE, cookie);
            }
            return response;
        }
    } else if header_token(request.headers()).is_some_and(|given| same(&given, &token)) {
        return secured(next.run(request).await);
    }
    let sentence = "a token is needed: send `Authorization: Bearer TOKEN`, or open the page as /?token=TOKEN";
    Refusal(StatusCode::UNAUTHORIZED, sentence.to_owned()).into_response()
}

/// Headers that keep a browser from doing with the page what it should not.
fn secured(mut response: Response) -> Response {
    let headers = response.headers_mut();
    for (name, value) in [
        (
            "content-security-policy",
            "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'",
        ),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

fn same(given: &str, token: &str) -> bool {
    given.as_bytes().ct_eq(token.as_bytes()).into()
}

fn query_token(request: &Request) -> Option<String> {
    if request.uri().path() != "/" {
        return None;
    }
    request.uri().query()?.split('&').find_map(|pair| pair.strip_prefix("token=")).map(str::to_owned)
}

fn header_token(headers: &HeaderMap) -> Option<String> {
    let bearer = headers
        .get(header::AUTHORIZATION)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.strip_prefix("Bearer "));
    let cookie =
        headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok()).find_map(|cookies| {
            cookies.split(';').find_map(|cookie| cookie.trim().strip_prefix(COOKIE)?.strip_prefix('='))
        });
    bearer.or(cookie).map(str::to_owned)
}

fn names_this_machine(headers: &HeaderMap) -> bool {
    let Some(host) = headers.get(header::HOST).and_then(|host| host.to_str().ok()) else { return true };
    let name = match host.strip_prefix('[') {
        Some(v6) => v6.split(']').next().unwrap_or(v6),
        None => host.rsplit_once(':').map_or(host, |(name, _)| name),
    };
    name == "localhost"
        || name.ends_with(".localhost")
        || name.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(name: &'static str) -> bool {
        names_this_machine(&HeaderMap::from_iter([(header::HOST, HeaderValue::from_static(name))]))
    }

    #[test]
    fn only_names_of_this_machine() {
        assert!(host("127.0.0.1:8080") && host("localhost:1") && host("[::1]:8080") && host("localhost"));
        assert!(!host("evil.example:8080") && !host("10.0.0.1") && !host("localhost.evil.example"));
    }
}
