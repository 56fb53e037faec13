#!/bin/bash
# Breadth-first search by several machines that ssh reaches:
#
#   hosts.sh hosts.txt /shared/model.bir -D N=6
#
# A line of hosts.txt is host:port. The model, and the folder of --checkpoint if there is one, must have the same path on every machine,
# and so must birk. This machine shows the report, and passes on the exit code of the first.
set -euo pipefail

hosts=$(realpath "$1")
shift
lines=()
mapfile -t lines < <(sed 's/#.*//' "$hosts" | tr -d ' \t' | grep .)
token=$(od -An -N32 -tx1 /dev/urandom | tr -d ' \n')

# run RANK COMMAND...: the words as they are, with the file of hosts and the secret through standard input, where no list of processes
# shows them.
run() {
    local rank=$1
    shift
    printf '%s\n%s\n' "$token" "$(cat "$hosts")" | ssh -o BatchMode=yes "${lines[rank]%:*}" "
        read -r BIRK_CLUSTER_TOKEN
        export BIRK_CLUSTER_TOKEN
        file=\$(mktemp)
        trap 'rm -f \"\$file\"' EXIT
        cat > \"\$file\"
        $(printf '%q ' "$@") --cluster \"\$file\" --rank $rank </dev/null"
}

words=(birk check "$@")
if [[ ${1:-} == resume ]]; then
    words=(birk "$@")
fi
for ((rank = 1; rank < ${#lines[@]}; rank++)); do
    run "$rank" "${words[@]}" &
done
status=0
run 0 "${words[@]}" || status=$?
wait || true
exit "$status"
