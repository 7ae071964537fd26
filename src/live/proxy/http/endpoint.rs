//! The address of the server, and the common parts of all requests. Credentials are here, and nowhere else.

use std::net::IpAddr;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use ureq::Agent;
use ureq::config::Config;
use ureq::http::uri::{PathAndQuery, Scheme};
use ureq::http::{HeaderMap, HeaderName, HeaderValue, Uri};
use ureq::tls::{Certificate, RootCerts, TlsConfig};

use crate::live::Fault;

/// The longest wait for a connection, TLS included.
const CONNECT: Duration = Duration::from_secs(30);
/// How long an unused connection is kept: servers close theirs after five seconds or more.
const IDLE: Duration = Duration::from_secs(3);

/// Headers that this transport sets itself.
const OWN: [&str; 10] = [
    "accept",
    "connection",
    "content-length",
    "content-type",
    "last-event-id",
    "mcp-method",
    "mcp-name",
    "mcp-protocol-version",
    "mcp-session-id",
    "transfer-encoding",
];

/// Replaces a secret.
const HIDDEN: &str = "[hidden]";

/// An MCP server that is reached over HTTP.
#[derive(Clone)]
pub struct Endpoint {
    uri: Uri,
    headers: HeaderMap,
    /// Texts that no message may hold.
    secrets: Vec<String>,
    config: Config,
}

impl std::fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Endpoint").field("origin", &self.origin()).finish_non_exhaustive()
    }
}

/// The options of the command line.
#[derive(Debug, Default)]
pub struct Options<'a> {
    /// The address of the server.
    pub url: &'a str,
    /// `Name: value` each. `${VARIABLE}` is read from the environment, in the URL as well.
    pub headers: &'a [String],
    /// `Name=VARIABLE` each.
    pub headers_from: &'a [String],
    /// Whether HTTP without TLS may leave this machine.
    pub allow_http: bool,
}

impl Endpoint {
    /// Reads the options; `variable` returns variables of the environment.
    ///
    /// # Errors An option cannot be used. The text holds no value of a header and no path of the URL, which may be
    /// secret.
    pub fn new(options: &Options<'_>, variable: impl Fn(&str) -> Option<String>) -> Result<Endpoint, Fault> {
        let url = expand(options.url, &variable)?;
        let uri = Uri::from_str(&url).map_err(|_| no_url("is not a valid URL"))?;
        let scheme = uri.scheme().ok_or_else(|| no_url("has no scheme"))?;
        if *scheme != Scheme::HTTP && *scheme != Scheme::HTTPS {
            return Err(no_url("is not one of HTTP"));
        }
        let host = uri.host().filter(|host| !host.is_empty()).ok_or_else(|| no_url("has no host"))?;
        if uri.authority().is_some_and(|authority| authority.as_str().contains('@')) {
            let message = "the URL of the MCP server holds a user name or a password";
            return Err(Fault::new(
                message,
                "pass it as a header, with `--header-env Authorization=VARIABLE`",
            ));
        }
        let local = is_loopback(host);
        if *scheme == Scheme::HTTP && !local && !options.allow_http {
            let message = format!(
                "`{}` is reached without TLS: everybody on the way could read and change tool calls and credentials",
                origin(&uri)
            );
            return Err(Fault::new(
                message,
                "use its https URL, or `--allow-http` in a network that you trust",
            ));
        }
        let mut headers = HeaderMap::new();
        let mut secrets: Vec<String> = uri.query().map(str::to_owned).into_iter().collect();
        for header in options.headers {
            let (name, value) = header.split_once(':').ok_or_else(|| {
                Fault::new("a `--header` has no colon", "write it as `--header 'Name: value'`")
            })?;
            add(&mut headers, name.trim(), expand(value.trim(), &variable)?, &mut secrets)?;
        }
        for header in options.headers_from {
            let (name, from) = header.split_once('=').ok_or_else(|| {
                Fault::new("a `--header-env` has no `=`", "write it as `--header-env Name=VARIABLE`")
            })?;
            let value = variable(from.trim()).ok_or_else(|| unset(from.trim()))?;
            add(&mut headers, name.trim(), value.trim().to_owned(), &mut secrets)?;
        }
        let config = config(*scheme == Scheme::HTTPS, local)?;
        Ok(Endpoint { uri, headers, secrets: parts(secrets), config })
    }

    /// The address of requests.
    pub fn uri(&self) -> &Uri {
        &self.uri
    }

    /// The headers from the options.
    pub fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// Scheme, host and port: what messages call the server.
    pub fn origin(&self) -> String {
        origin(&self.uri)
    }

    /// Connections of their own, which one shutdown ends.
    pub fn agent(&self) -> Agent {
        self.config.new_agent()
    }

    /// The same text without secrets, which a server may have repeated.
    pub fn scrub(&self, text: &str) -> String {
        self.secrets.iter().fold(text.to_owned(), |text, secret| text.replace(secret, HIDDEN))
    }

    /// The target of a redirect, if that is the same server; else its origin, for the message.
    pub fn redirected(&self, from: &Uri, location: &str) -> Result<Uri, String> {
        let target = if location.starts_with('/') && !location.starts_with("//") {
            let mut parts = from.clone().into_parts();
            parts.path_and_query = PathAndQuery::from_str(location).ok();
            Uri::from_parts(parts).ok()
        } else {
            Uri::from_str(location).ok().filter(|target| target.host().is_some())
        };
        match target {
            Some(target) if origin(&target) == origin(from) => Ok(target),
            Some(target) => Err(origin(&target)),
            None => Err("an address that cannot be read".to_owned()),
        }
    }
}

/// Secrets and their words, the longest first: a server may repeat a token without its prefix.
fn parts(secrets: Vec<String>) -> Vec<String> {
    let words = |secret: &String| {
        let words = secret.split(|letter: char| letter.is_whitespace() || "=&:,;".contains(letter));
        words.map(str::to_owned).collect::<Vec<_>>()
    };
    let mut all: Vec<String> = secrets.iter().flat_map(words).collect();
    all.extend(secrets);
    all.retain(|secret| secret.len() >= 6 && !secret.eq_ignore_ascii_case("bearer"));
    all.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
    all.dedup();
    all
}

fn config(tls: bool, local: bool) -> Result<Config, Fault> {
    let builder = Agent::config_builder()
        .http_status_as_error(false)
        // A redirect is looked at before anything is sent again.
        .max_redirects(0)
        .user_agent(concat!("rulestep/", env!("CARGO_PKG_VERSION")))
        .max_idle_age(IDLE)
        .timeout_resolve(Some(CONNECT))
        .timeout_connect(Some(CONNECT));
    // Requests to this machine are not sent to a proxy of the environment.
    let builder = if local { builder.proxy(None) } else { builder };
    if !tls {
        return Ok(builder.build());
    }
    let found = rustls_native_certs::load_native_certs();
    let roots: Vec<Certificate<'static>> =
        found.certs.iter().map(|der| Certificate::from_der(der).to_owned()).collect();
    if roots.is_empty() {
        let why = found.errors.first().map(|error| format!(": {error}")).unwrap_or_default();
        let message = format!("no certificates that this system trusts were found{why}");
        return Err(Fault::new(message, "install them, or name a file of them in `SSL_CERT_FILE`"));
    }
    let tls = TlsConfig::builder()
        .root_certs(RootCerts::Specific(Arc::new(roots)))
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()));
    Ok(builder.tls_config(tls.build()).build())
}

fn origin(uri: &Uri) -> String {
    let scheme = uri.scheme_str().unwrap_or_default();
    let port = uri.port_u16().filter(|port| !matches!((scheme, port), ("http", 80) | ("https", 443)));
    let port = port.map(|port| format!(":{port}")).unwrap_or_default();
    format!("{scheme}://{}{port}", uri.host().unwrap_or_default().to_ascii_lowercase())
}

fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let name = bare.to_ascii_lowercase();
    bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
        || name == "localhost"
        || name.ends_with(".localhost")
}

fn add(headers: &mut HeaderMap, name: &str, value: String, secrets: &mut Vec<String>) -> Result<(), Fault> {
    let help = "write it as `--header 'Name: value'`";
    let header = HeaderName::from_str(name)
        .map_err(|_| Fault::new("the name of a `--header` is not one of HTTP", help))?;
    if OWN.contains(&header.as_str()) {
        return Err(Fault::new(format!("the header `{name}` is set by the proxy"), "leave it out"));
    }
    let mut text = HeaderValue::from_str(&value).map_err(|_| {
        Fault::new(format!("the value of the header `{name}` holds letters that HTTP does not allow"), help)
    })?;
    text.set_sensitive(true);
    headers.append(header, text);
    secrets.push(value);
    Ok(())
}

/// The text with `${VARIABLE}` replaced by what the environment holds.
fn expand(text: &str, variable: impl Fn(&str) -> Option<String>) -> Result<String, Fault> {
    let (mut whole, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once("${") {
        let name = after.split_once('}').filter(|(name, _)| {
            let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
            !name.is_empty() && name.chars().all(is_letter)
        });
        whole.push_str(before);
        match name {
            Some((name, after)) => {
                whole.push_str(&variable(name).ok_or_else(|| unset(name))?);
                rest = after;
            }
            None => {
                whole.push_str("${");
                rest = after;
            }
        }
    }
    whole.push_str(rest);
    Ok(whole)
}

fn unset(name: &str) -> Fault {
    Fault::new(format!("the environment variable `{name}` is not set"), "set it for the proxy")
}

fn no_url(why: &str) -> Fault {
    let message = format!("the URL of the MCP server {why}");
    Fault::new(message, "write it as `--url https://HOST/PATH`")
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn variable(name: &str) -> Option<String> {
        (name == "TOKEN").then(|| "s3cret-token".to_owned())
    }

    fn endpoint(url: &str, headers: &[&str], from: &[&str], allow_http: bool) -> Result<Endpoint, String> {
        let owned = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
        let (headers, from) = (owned(headers), owned(from));
        let options = Options { url, headers: &headers, headers_from: &from, allow_http };
        Endpoint::new(&options, variable).map_err(|fault| fault.to_string())
    }

    #[rstest]
    #[case("http://example.com/mcp", "without TLS")]
    #[case("http://127.0.0.1.example.com/", "without TLS")]
    #[case("http://localhost.example.com/", "without TLS")]
    #[case("http://10.0.0.1/", "without TLS")]
    #[case("http://[fe80::1]/", "without TLS")]
    #[case("ftp://example.com/", "not one of HTTP")]
    #[case("example.com", "no scheme")]
    #[case("/mcp", "no scheme")]
    #[case("https://user:s3cret-token@example.com/", "a user name or a password")]
    #[case("https://exa mple.com/s3cret-token", "not a valid URL")]
    #[case("https://example.com/${NOWHERE}", "`NOWHERE` is not set")]
    fn a_url_that_cannot_be_used_is_an_error(#[case] url: &str, #[case] why: &str) {
        let error = endpoint(url, &[], &[], false).unwrap_err();
        assert!(error.contains(why) && !error.contains("s3cret"), "{error}");
    }

    #[rstest]
    #[case("http://127.0.0.1:8000/mcp")]
    #[case("http://127.9.9.9/")]
    #[case("http://[::1]:8000/mcp")]
    #[case("http://LOCALHOST:8000/mcp")]
    #[case("http://app.localhost/mcp")]
    fn this_machine_needs_no_tls(#[case] url: &str) {
        endpoint(url, &[], &[], false).unwrap();
    }

    #[test]
    fn a_flag_allows_http() {
        endpoint("http://example.com/mcp", &[], &[], true).unwrap();
    }

    #[rstest]
    #[case("Authorization s3cret-token", "no colon")]
    #[case("A b: s3cret-token", "not one of HTTP")]
    #[case("X-Key: s3cret-token\u{1}", "`X-Key` holds letters")]
    #[case("X-Key: a\r\nX-Other: s3cret-token", "`X-Key` holds letters")]
    #[case("accept: s3cret-token", "set by the proxy")]
    #[case("Mcp-Session-Id: s3cret-token", "set by the proxy")]
    #[case("X-Key: ${UNSET}", "`UNSET` is not set")]
    fn a_header_that_cannot_be_used_is_an_error(#[case] header: &str, #[case] why: &str) {
        let error = endpoint("http://localhost/", &[header], &[], false).unwrap_err();
        assert!(error.contains(why) && !error.contains("s3cret"), "{error}");
    }

    #[test]
    fn values_of_the_environment_are_used_and_hidden() {
        let headers = ["Authorization: Bearer ${TOKEN}", "X-Price: $5 ${not a name}"];
        let endpoint = endpoint("http://localhost/?key=query-secret", &headers, &["X-Key=TOKEN"], false);
        let endpoint = endpoint.unwrap();
        let values: Vec<_> = endpoint.headers().values().map(|value| value.to_str().unwrap()).collect();
        assert_eq!(values, ["Bearer s3cret-token", "$5 ${not a name}", "s3cret-token"]);
        let scrubbed = endpoint.scrub("Bearer s3cret-token is not query-secret; no s3cret-token");
        assert_eq!(scrubbed, "[hidden] is not [hidden]; no [hidden]");
        assert!(!format!("{endpoint:?}").contains("secret"));
    }

    #[rstest]
    #[case("/mcp/", Ok("https://example.com/mcp/"))]
    #[case("https://EXAMPLE.com:443/mcp/?a=b", Ok("https://EXAMPLE.com:443/mcp/?a=b"))]
    #[case("http://example.com/mcp/", Err("http://example.com"))]
    #[case("https://example.com:444/mcp", Err("https://example.com:444"))]
    #[case("https://example.org/mcp?s=1", Err("https://example.org"))]
    #[case("//example.org/mcp", Err("an address that cannot be read"))]
    #[case("mcp/", Err("an address that cannot be read"))]
    fn only_the_same_server_is_gone_to(#[case] location: &str, #[case] expected: Result<&str, &str>) {
        let endpoint = endpoint("https://localhost/", &[], &[], false).map_err(|_| ());
        let from = Uri::from_static("https://example.com/mcp");
        // A machine without certificates has no endpoint with TLS, and redirects are the same.
        let endpoint = endpoint.or_else(|()| super::tests::endpoint("http://localhost/", &[], &[], false));
        let target = endpoint.unwrap().redirected(&from, location);
        let target = target.as_ref().map(ToString::to_string).map_err(|origin| &**origin);
        assert_eq!(target.as_deref(), expected.as_deref());
    }
}
