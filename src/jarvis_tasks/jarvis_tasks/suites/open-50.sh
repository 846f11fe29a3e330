#!/bin/sh
# How the suite open-50 was made; makes it again, bit for bit, with the version that froze it.
# Run from the project's root, in its environment (./jarvis shell):  sh src/jarvis_tasks/jarvis_tasks/suites/open-50.sh POOL SUITE
set -eu
pool=${1:?folder for models and dataset} suite=${2:?folder of the new suite}
handmade=src/jarvis_bricks/jarvis_bricks/models
jarvis() { python -m jarvis_cli "$@"; }

jarvis tasks generate --seed 50 --sizes small --count 13 --no-check --out "$pool/models"
jarvis tasks generate --seed 50 --sizes medium --count 26 --no-check --out "$pool/models"
jarvis tasks generate --seed 50 --sizes large --count 65 --no-check --out "$pool/models"
jarvis tasks build "$pool/models" "$handmade" --bricks 1-29 --out "$pool/dataset"
jarvis tasks select "$pool/dataset" --split all --like validation --models "$pool/models" "$handmade" \
  --name open-50 --description "20 Easy, 15 Medium, 15 Hard, cut from generated and handmade models" --out "$suite"
