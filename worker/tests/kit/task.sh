# A stand-in for an attempt's process: it speaks the umbilical's lines over file descriptor 0 and does what the
# job's property `behave` says.

say() { printf '%s\n' "$1" >&0; }
status() { say '{"say":"status","phase":"MAP","progress":5000,"counters":{"Test":{"lines":3}},"message":"half"}'; }
finish() { say '{"say":"done","counters":{"Test":{"lines":7}}}'; }
hang() { while IFS= read -r ignored; do :; done; exit 9; }

echo "the log of $HOWDAH_ATTEMPT"
while IFS= read -r line; do
    case "$line" in
    *'"say":"run"'*) ;;
    *'"say":"exit"'*) exit 0 ;;
    *) continue ;;
    esac
    # A file of its own among the logs, but where none is wanted.
    case "$line" in *'"behave":"quiet"'*) finish; exit 0 ;; esac
    echo $$ > "$HOWDAH_LOG_DIR/pid"
    case "$line" in
    *'"behave":"done"'*) finish; exit 0 ;;
    *'"behave":"reuse"'*) say "{\"say\":\"done\",\"counters\":{\"Test\":{\"pid\":$$}}}" ;;
    *'"behave":"once"'*)
        case "$runs" in x) kill -KILL $$ ;; esac
        runs=x
        say "{\"say\":\"done\",\"counters\":{\"Test\":{\"pid\":$$}}}" ;;
    *'"behave":"stay"'*)
        say "{\"say\":\"done\",\"counters\":{\"Test\":{\"pid\":$$}}}"
        while :; do sleep 1000 < /dev/null; done ;;
    *'"behave":"leave"'*)
        setsid sleep 20 <&0 &
        finish
        exit 0 ;;
    *'"behave":"linger"'*)
        setsid sleep 20 <&0 &
        status
        hang ;;
    *'"behave":"endless"'*) cat /dev/zero >&0 ;;
    *'"behave":"lingering"'*)
        sleep 1000 &
        echo $! > "$HOWDAH_LOG_DIR/child"
        finish
        exit 0 ;;
    *'"behave":"escape"'*)
        setsid sleep 1000 < /dev/null &
        echo $! > "$HOWDAH_LOG_DIR/child"
        status
        hang ;;
    *'"behave":"hang"'*) status; hang ;;
    *'"behave":"fail"'*) echo "about to fail" >&2; say '{"say":"failed","message":"no such luck","counters":{}}'; exit 1 ;;
    *'"behave":"exit"'*) echo "leaving early" >&2; exit 3 ;;
    *'"behave":"crash"'*) kill -SEGV $$ ;;
    *'"behave":"garbage"'*) say 'not a message'; hang ;;
    *'"behave":"stubborn"'*)
        trap '' TERM
        sleep 1000 < /dev/null &
        echo $! > "$HOWDAH_LOG_DIR/child"
        status
        while :; do sleep 1000 < /dev/null; done ;;
    *'"behave":"commit"'*)
        say '{"say":"commit_pending"}'
        IFS= read -r granted
        case "$granted" in *commit_granted*) finish; exit 0 ;; *) exit 4 ;; esac ;;
    *'"behave":"events"'*)
        while IFS= read -r events; do
            echo "$events"
            case "$events" in
            *'"map":1'*) finish; exit 0 ;;
            *'"map":0'*) say '{"say":"fetch_failure","attempt":"attempt_202611201200_0001_m_000000_0","message":"gone"}' ;;
            esac
        done ;;
    esac
done
