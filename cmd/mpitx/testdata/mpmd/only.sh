#!/bin/sh
# only.sh 'RANKS' ARGUMENT… -- PROGRAM…: these ranks run the program under mpitx ARGUMENT…, the others without it.
ranks=$1
shift
case " $ranks " in *" ${OMPI_COMM_WORLD_RANK:-$PMI_RANK} "*) exec mpitx "$@" ;; esac
while [ "$1" != -- ]; do
    shift
done
shift
exec "$@"
