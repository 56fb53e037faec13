#!/bin/bash
# Breadth-first search by all nodes of a Slurm job:
#
#   sbatch --nodes=4 --time=08:00:00 slurm.sh model.bir -D N=6
#
# Every complete level is saved in a folder that all nodes must see. When a node is lost, or the time is up, the job ends with exit
# code 3; submit it again with BIRK_FOLDER set to that folder, with as many nodes as there are, and the search goes on.
#SBATCH --job-name=birk
#SBATCH --ntasks-per-node=1
#SBATCH --exclusive
#SBATCH --no-requeue
set -euo pipefail

folder=${BIRK_FOLDER:-$PWD/birk-$SLURM_JOB_ID}
first_port=${BIRK_PORT:-7171}
threads=${SLURM_CPUS_ON_NODE:-1}
mkdir -p "$folder"

# One process on each node, each with a port of its own.
hosts=$folder/hosts-$SLURM_JOB_ID.txt
port=$first_port
for host in $(scontrol show hostnames "$SLURM_JOB_NODELIST"); do
    echo "$host:$port"
    port=$((port + 1))
done > "$hosts"

# The processes prove this to each other; it is drawn for this job, and srun hands it on.
BIRK_CLUSTER_TOKEN=$(od -An -N32 -tx1 /dev/urandom | tr -d ' \n')
export BIRK_CLUSTER_TOKEN

options=(--threads "$threads")
if [[ $SLURM_JOB_NUM_NODES -gt 1 ]]; then
    options+=(--cluster "$hosts" --cluster-wait 2m)
fi
# What Slurm gives to a job is a limit that kills: Birk ends before, and reports.
if [[ -n ${SLURM_MEM_PER_NODE:-} && $SLURM_MEM_PER_NODE != 0 ]]; then
    options+=(--memory "$((SLURM_MEM_PER_NODE * 8 / 10))M")
fi

if [[ -e $folder/search/levels.log ]]; then
    srun --kill-on-bad-exit=0 birk resume "$folder/search" "${options[@]}"
else
    srun --kill-on-bad-exit=0 birk check "$@" --search cluster --checkpoint "$folder/search" "${options[@]}"
fi
