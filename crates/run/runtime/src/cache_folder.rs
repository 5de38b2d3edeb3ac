//! Cache folder: files that are kept between runs.

use std::path::PathBuf;

/// The cache folder. `SPIRULA_CACHE_DIR` names it, and an empty value disables it. By default it is the folder `spirula` in
/// the system's cache folder.
pub fn find_cache_folder() -> Option<PathBuf> {
    if let Some(own) = std::env::var_os("SPIRULA_CACHE_DIR") {
        return (!own.is_empty()).then(|| own.into());
    }
    let set = |name| {
        std::env::var_os(name)
            .filter(|v| !v.is_empty())
            .map(PathBuf::from)
    };
    let shared = set("XDG_CACHE_HOME").or_else(|| set("LOCALAPPDATA"));
    let shared = shared.or_else(|| Some(set("HOME")?.join(".cache")));
    shared.map(|folder| folder.join("spirula"))
}
