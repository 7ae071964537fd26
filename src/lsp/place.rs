//! Names of files in the editor's form, and in that of the rest of the program.

use fluent_uri::Uri;
use fluent_uri::pct_enc::EString;
use fluent_uri::pct_enc::encoder::Path;

/// The path of a file; `None` for anything else.
pub fn path(uri: &str) -> Option<String> {
    let uri = Uri::parse(uri).ok()?;
    let is_file = uri.scheme().as_str().eq_ignore_ascii_case("file");
    let path = uri.path().decode().to_string().ok()?.into_owned();
    // `/C:/x` is `C:/x`.
    let drive = path.get(2..3) == Some(":") && path.starts_with('/');
    is_file.then(|| path.get(usize::from(drive)..).unwrap_or_default().to_owned())
}

/// The file as an editor writes it.
pub fn uri(path: &str) -> Option<lsp_types::Uri> {
    let mut encoded = EString::<Path>::new();
    encoded.encode_str::<Path>(path);
    let root = if path.starts_with('/') { "" } else { "/" };
    format!("file://{root}{encoded}").parse().ok()
}

/// The folder of a file.
pub fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or(".", |(folder, _)| folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_survive() {
        for name in ["/a/b.yaml", "/a b/ä#1%.yaml", "C:/x/y.yaml", "/𝒳/[a].yaml"] {
            let written = uri(name).unwrap();
            assert_eq!(path(written.as_str()).as_deref(), Some(name), "{}", written.as_str());
        }
        assert_eq!(path("untitled:Untitled-1"), None);
        assert_eq!(path("not a uri"), None);
        assert_eq!(folder("/a/b.yaml"), "/a");
    }
}
