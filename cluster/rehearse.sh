#!/bin/bash
# Runs the Slurm array and the Snakemake workflow for real on one machine: 40 recordings made on the spot and one that is missing; three nodes, each a
# slurmd of its own; workers killed in the middle, a node drained. What comes out must be, byte by byte, what one process makes.
#   apt-get install slurm-wlm munge; pip install snakemake
#   cluster/rehearse.sh AGOGIC [FOLDER]        as root, for slurmd
set -euo pipefail
[ $# -ge 1 ] || { sed -n '2,5s/^# \{0,1\}//p' "$0"; exit 2; }
export AGOGIC=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
dir=$(realpath -m "${2:-$(mktemp -d)}")
shards=8
mkdir -p "$dir"
cd "$dir"
say() { printf '%s rehearse: %s\n' "$(date +%T)" "$*"; }
fail() { say "FAILED: $*"; exit 1; }

make_recordings() {
    [ -f data/manifest.csv ] || { "$AGOGIC" -q demo demo; mkdir -p scores; cp demo/score.mid scores/
        "$AGOGIC" make-data scores data --count 40 --studies 10 --seconds 20; }
    { cat data/manifest.csv; echo "missing,missing.wav,missing.mid,"; } > data/list.csv
    say "$(($(wc -l < data/list.csv) - 1)) rows"
}

# Ends with 1, for the recording that is missing.
batch() { "$AGOGIC" -q batch data/list.csv --out-dir "$@" --format parquet 2>> "$1.log" || [ $? -eq 1 ]; }
summary() { "$AGOGIC" batch-summary "$@" 2> /dev/null || [ $? -eq 1 ]; }

one_process() {
    rm -rf one one-by-shards
    batch one > /dev/null
    for shard in $(seq $shards); do batch one-by-shards --shard "$shard/$shards" > /dev/null; done
    summary one --json > one.json
}

# Kills $2 workers of folder $1 with SIGKILL, each when it has finished a piece and is at another.
kill_workers() {
    local killed=" " shard process
    for _ in $(seq 3000); do
        for file in "$1"/progress/*.json; do
            [ -f "$file" ] || continue
            read -r shard process < <(python3 -c 'import json,sys; p=json.load(open(sys.argv[1])); print(p["shard"], p["process"] if p["state"] == "running" and p["done"] > 0 else 0)' "$file" || echo 0 0)
            case $killed in *" $shard "*) continue ;; esac
            # The number may be another process's by now.
            if [ "$process" -gt 0 ] && [ "$(readlink "/proc/$process/exe")" = "$AGOGIC" ] && kill -KILL "$process"; then
                say "killed the worker of shard $shard (process $process) with $(ls "$1"/work-*"$shard-of-$shards"/*.json | wc -l) pieces done"
                killed="$killed$shard "
                [ "$(wc -w <<< "$killed")" -lt "$2" ] || return 0
            fi
        done
        sleep 0.1
    done
    fail "found only these workers to kill: $killed"
}

compare() {
    summary "$1" --json | cmp - one.json || fail "the summary of $1 is not that of one process"
    for table in one-by-shards/*.parquet; do cmp "$table" "$1/${table##*/}" || fail "$1 has another ${table##*/}"; done
    local left
    left=$(find "$1" -name 'work-*' -o -name '.agogic-*')
    [ -z "$left" ] || fail "left behind: $left"
    say "$1: the summary and all $(ls "$1"/*.parquet | wc -l) tables are those of one process, byte by byte; nothing is left behind"
}

slurm_configuration() {
    cat << CONF
ClusterName=rehearsal
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmctldPort=16817
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$dir/slurm/munge.socket
StateSaveLocation=$dir/slurm/state
SlurmdSpoolDir=$dir/slurm/spool-%n
SlurmctldPidFile=$dir/slurm/slurmctld.pid
SlurmdPidFile=$dir/slurm/slurmd-%n.pid
SlurmctldLogFile=$dir/slurm/slurmctld.log
SlurmdLogFile=$dir/slurm/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
MpiDefault=none
ReturnToService=2
KillWait=2
NodeName=n[1-3] NodeHostname=$(hostname -s) NodeAddr=127.0.0.1 Port=[17001-17003] CPUs=1 RealMemory=4000
PartitionName=all Nodes=ALL Default=YES State=UP
CONF
}

stop_slurm() {
    for file in "$dir"/slurm/*.pid; do [ -f "$file" ] && kill "$(cat "$file")" 2> /dev/null || true; done
}

start_slurm() {
    trap stop_slurm EXIT
    rm -rf slurm
    mkdir -p slurm/state slurm/spool-n1 slurm/spool-n2 slurm/spool-n3
    dd if=/dev/urandom of=slurm/munge.key bs=1024 count=1 status=none
    chmod 600 slurm/munge.key
    munged --force --key-file="$dir/slurm/munge.key" --socket="$dir/slurm/munge.socket" --pid-file="$dir/slurm/munged.pid" \
        --log-file="$dir/slurm/munged.log" --seed-file="$dir/slurm/munged.seed"
    slurm_configuration > slurm/slurm.conf
    export SLURM_CONF=$dir/slurm/slurm.conf
    slurmctld
    for node in n1 n2 n3; do slurmd -N $node; done
    for _ in $(seq 60); do [ "$(sinfo -h -t idle -o %D)" = 3 ] && return; sleep 0.5; done
    sinfo -N -l
    fail "the nodes do not come up"
}

run_slurm() {
    rm -rf on-slurm slurm-logs
    mkdir slurm-logs
    local job
    job=$(sbatch --parsable --array=1-$shards --mem=1G --output=slurm-logs/%a.log "$here/slurm-array.sh" $shards data/list.csv "$dir/on-slurm")
    say "array $job of $shards tasks on $(sinfo -h -o %D) nodes"
    until [ -n "$(squeue -h -t R -w n2)" ]; do sleep 0.1; done
    scontrol update NodeName=n2 State=DRAIN Reason=rehearsal
    local begun_on_n2
    begun_on_n2=$(tasks_begun_on n2)
    say "n2 is to be drained while it works: $(sinfo -h -N -o '%N %T' | tr '\n' ' ')"
    kill_workers on-slurm 3
    for _ in $(seq 3000); do [ -z "$(squeue -h)" ] && break; sleep 0.2; done
    [ -z "$(squeue -h)" ] || fail "the array does not end"
    [ "$(tasks_begun_on n2)" = "$begun_on_n2" ] || fail "a task began on the drained node"
    say "n2 is $(sinfo -h -n n2 -o %T); tasks begun on n1, n2, n3: $(tasks_begun_on n1), $begun_on_n2, $(tasks_begun_on n3)"
    sed -n 's/^\[.*T\(.*\)\..*\] \(.*\(Allocate\|equeue\|WEXITSTATUS\).*\)/    \1 \2/p' slurm/slurmctld.log
}

tasks_begun_on() { grep -c "NodeList=$1 " slurm/slurmctld.log || true; }

run_snakemake() {
    rm -rf on-snakemake .snakemake
    snakemake -s "$here/Snakefile" --cores 2 --config manifest=data/list.csv out=on-snakemake shards=$shards agogic="$AGOGIC" \
        > snakemake.log 2>&1 &
    local snakemake=$!
    kill_workers on-snakemake 3
    wait $snakemake || fail "Snakemake: see $dir/snakemake.log"
    grep -E "Trying to restart|Finished job|steps" snakemake.log | sort | uniq -c | sort -rn | head -4
    summary one | cmp - on-snakemake/summary.md || fail "the workflow's own summary is another one"
}

make_recordings
one_process
start_slurm
run_slurm
compare on-slurm
run_snakemake
compare on-snakemake
say "all is well"
