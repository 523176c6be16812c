#!/bin/sh
# A Slurm array: every task does one shard of a manifest. From the folder where the logs are to go:
#   sbatch --array=1-200 cluster/slurm-array.sh 200 MANIFEST DIR
#   sbatch --dependency=afterany:JOB --wrap "agogic batch-summary DIR"
# Shards that did not finish, such as for want of memory, are done by the same command with their numbers: --array=17,44 --mem=16G
#SBATCH --job-name=agogic
#SBATCH --cpus-per-task=1
#SBATCH --mem=2G
#SBATCH --time=12:00:00
#SBATCH --requeue
#SBATCH --open-mode=append
set -u
[ $# -eq 3 ] || { echo "usage: sbatch --array=1-SHARDS $0 SHARDS MANIFEST DIR" >&2; exit 2; }
shards=$1 manifest=$2 out=$3
cpus=${SLURM_CPUS_PER_TASK:-1}
# As many threads as the task has processors, however many the machine has.
export RAYON_NUM_THREADS="$cpus"
mkdir -p "$out/progress"
"${AGOGIC:-agogic}" batch "$manifest" --out-dir "$out" --shard "$SLURM_ARRAY_TASK_ID/$shards" --resume \
    --format parquet --jobs "$cpus" --device cpu --progress "$out/progress/$SLURM_ARRAY_TASK_ID.json"
code=$?
# Killed: once more, from where it was, but not for ever. A row that failed (1) is in the table and would fail again.
if [ "$code" -gt 128 ] && [ "${SLURM_RESTART_COUNT:-0}" -lt 3 ]; then
    scontrol requeue "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID"
    sleep 60
fi
exit "$code"
