//! Writes the licences of everything that is built into the program: `cargo run --example notices > assets/third-party.txt`.
//!
//! Of a choice of licences Apache 2.0 is taken, whose text is given once; a package under another one brings its own text,
//! with its authors. Packages for other systems than this one are listed, too.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Licences whose text says nothing of the authors, so that it is enough once, and where it is.
const ONCE: [(&str, &str); 4] = [
    ("Apache-2.0", "LICENSE-APACHE"),
    ("BSL-1.0", "packaging/licences/BSL-1.0.txt"),
    ("MPL-2.0", "packaging/licences/MPL-2.0.txt"),
    ("Unicode-3.0", "packaging/licences/Unicode-3.0.txt"),
];

fn main() -> Result<(), Box<dyn Error>> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let said = Command::new(cargo).args(["metadata", "--format-version", "1", "--locked"]).output()?;
    if !said.status.success() {
        return Err(String::from_utf8_lossy(&said.stderr).into());
    }
    let packages = built_in(&serde_json::from_slice(&said.stdout)?)?;
    let mut texts: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    println!("Agogic is built with the following packages.\n");
    for Package { name, version, licence, folder } in &packages {
        println!("{name} {version}: {licence}");
        for text in texts_of(licence, folder)? {
            texts.entry(text).or_default().insert(name.clone());
        }
    }
    for (text, names) in texts {
        let names: Vec<String> = names.into_iter().collect();
        println!("\n{}\n{}\n\n{text}", "-".repeat(80), names.join(", "));
    }
    Ok(())
}

struct Package {
    name: String,
    version: String,
    licence: String,
    folder: PathBuf,
}

/// The packages that the program is linked with, by name: not those that only build or test it.
fn built_in(metadata: &Value) -> Result<Vec<Package>, Box<dyn Error>> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let by_id = |list: Vec<Value>| list.into_iter().map(|one| (text(&one["id"]), one)).collect::<BTreeMap<_, _>>();
    let (packages, nodes) = (by_id(list(&metadata["packages"])), by_id(list(&metadata["resolve"]["nodes"])));
    let root = text(&metadata["resolve"]["root"]);
    let (mut found, mut open) = (BTreeSet::new(), vec![root.clone()]);
    while let Some(id) = open.pop() {
        let node = nodes.get(&id).ok_or("a package is not in the graph")?;
        for dependency in list(&node["deps"]) {
            let is_linked = list(&dependency["dep_kinds"]).iter().any(|kind| kind["kind"].is_null());
            let id = text(&dependency["pkg"]);
            if is_linked && found.insert(id.clone()) {
                open.push(id);
            }
        }
    }
    let package = |id: &String| {
        let package = packages.get(id)?;
        Some(Package {
            name: text(&package["name"]),
            version: text(&package["version"]),
            licence: text(&package["license"]),
            folder: Path::new(package["manifest_path"].as_str()?).parent()?.to_owned(),
        })
    };
    let mut found: Vec<Package> = found.iter().filter(|id| **id != root).filter_map(package).collect();
    found.sort_by(|a, b| (&a.name, &a.version).cmp(&(&b.name, &b.version)));
    Ok(found)
}

/// What must be said of a package: the text of the licence that is taken, or only its name where a package leaves it at that.
fn texts_of(licence: &str, folder: &Path) -> Result<Vec<String>, Box<dyn Error>> {
    let alternatives = licence.replace('/', " OR ");
    let is_choice = !alternatives.contains(" AND ");
    let taken: Vec<&str> = if is_choice && alternatives.contains("Apache-2.0") {
        vec!["Apache-2.0"]
    } else {
        alternatives.split([' ', '(', ')']).filter(|word| !matches!(*word, "" | "OR" | "AND" | "WITH")).collect()
    };
    let mut texts: Vec<String> = ONCE
        .iter()
        .filter(|(name, _)| taken.contains(name))
        .map(|(_, path)| Ok(std::fs::read_to_string(path)?.trim().to_owned()))
        .collect::<Result<_, std::io::Error>>()?;
    if taken.iter().any(|name| ONCE.iter().all(|(once, _)| once != name)) {
        let mut names: Vec<_> = std::fs::read_dir(folder)?.flatten().map(|entry| entry.path()).collect();
        names.sort();
        for path in names.iter().filter(|path| path.is_file()) {
            let name = path.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
            let is_licence = ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE"]
                .iter()
                .any(|begin| name.starts_with(begin));
            if is_licence && !(is_choice && name.contains("APACHE")) {
                texts.push(String::from_utf8_lossy(&std::fs::read(path)?).replace('\r', "").trim().to_owned());
            }
        }
    }
    Ok(texts)
}
