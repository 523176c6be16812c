//! `agogic bench --problems`: the contract that scripts depend on.

use crate::support::agogic;

/// A folder with one small problem: a signal and the same signal along a gentle warp.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let (n, dim) = (32, 2);
    let sample = |t: f64| [(6.0 * t).sin() as f32, (9.0 * t).cos() as f32];
    for (name, bend) in [("x", 0.05), ("y", 0.0)] {
        let times = (0..n).map(|i| f64::from(i) / f64::from(n - 1));
        let values = times.flat_map(|t| sample(t + bend * (std::f64::consts::PI * t).sin()));
        let bytes: Vec<u8> = values.flat_map(f32::to_le_bytes).collect();
        assert_eq!(bytes.len(), 32 * dim * 4);
        std::fs::write(folder.path().join(format!("toy_32_{name}.f32")), bytes).unwrap();
    }
    std::fs::write(folder.path().join("problems.csv"), "kind,n,dim,lambda,note\ntoy,32,2,0.01,x\n").unwrap();
    folder
}

#[test]
fn problems_of_a_folder_are_solved_and_reported_with_exactly_the_promised_keys() {
    let folder = folder();
    let run = agogic(["bench", "--problems", folder.path().to_str().unwrap(), "--json"]).ok();
    let json = run.json();
    let rows = json.as_array().unwrap();
    assert_eq!(rows.len(), 1);
    let mut keys: Vec<&str> = rows[0].as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    let promised = [
        "device",
        "dim",
        "dtw_ms",
        "forward_backward_ms",
        "forward_ms",
        "kind",
        "kkt_residual",
        "lambda",
        "n",
        "objective",
    ];
    assert_eq!(keys, promised);
    assert_eq!(rows[0]["kind"], "toy");
    assert!(rows[0]["objective"].as_f64().unwrap() > 0.0);
    assert!(rows[0]["kkt_residual"].as_f64().unwrap() < 1e-6);
    let table = agogic(["bench", "--problems", folder.path().to_str().unwrap()]).ok().stdout;
    assert!(table.contains("toy") && table.contains("objective"), "{table}");
}

#[test]
fn a_missing_or_short_file_is_named() {
    let folder = folder();
    std::fs::write(folder.path().join("toy_32_y.f32"), [0; 10]).unwrap();
    let path = folder.path().to_str().unwrap();
    let run = agogic(["bench", "--problems", path, "--json"]);
    assert_eq!((run.code, run.stdout.as_str()), (Some(1), ""));
    assert!(run.stderr.contains("toy_32_y.f32") && run.stderr.contains("10 bytes"), "{}", run.stderr);
    std::fs::remove_file(folder.path().join("problems.csv")).unwrap();
    let run = agogic(["bench", "--problems", path]);
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.contains("problems.csv"), "{}", run.stderr);
}
