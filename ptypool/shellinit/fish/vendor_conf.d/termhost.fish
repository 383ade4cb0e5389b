# termhost's shell integration for fish.
#
# fish finds this file because XDG_DATA_DIRS names its folder, and reads it before the user's
# config.fish. This file first sets XDG_DATA_DIRS back.
#
# Afterwards the shell tells its terminal, by OSC 633 marks: A at a prompt, E with the command line
# and C when a command begins, D with its exit status when it has ended, P;Cwd with the directory.
# Each ends with the nonce, so that no program can forge one. Nothing is exported, so that a shell
# inside this one stays silent.

if set -q TERMHOST_XDG_DATA_DIRS
    set -gx XDG_DATA_DIRS $TERMHOST_XDG_DATA_DIRS
    set -e TERMHOST_XDG_DATA_DIRS
else
    set -e XDG_DATA_DIRS
end

# The nonce comes in a FIFO: fish could not close a descriptor.
set -g __termhost_nonce
if set -q TERMHOST_NONCE_FIFO
    read -g __termhost_nonce <$TERMHOST_NONCE_FIFO 2>/dev/null
    set -e TERMHOST_NONCE_FIFO
end

if status is-interactive; and test -n "$__termhost_nonce"

    # Prints $argv[1] with what OSC 633 reserves written as \\ and \xHH.
    function __termhost_escape
        set -l text (string replace --all '\\' '\\\\' -- $argv[1] |
            string replace --all ';' '\\x3b' | string join '\\x0a')
        if string match --quiet --regex '[\x01-\x1f\x7f]' -- $text
            for i in (seq 1 31) 127
                set -l hex (printf '%02x' $i)
                set text (string replace --all (printf "\\x$hex") "\\x$hex" -- $text)
            end
        end
        printf '%s' $text
    end

    function __termhost_preexec --on-event fish_preexec
        set -l fish_trace # a trace would have the nonce
        begin
            if test (string length -- "$argv[1]") -le 16384
                printf '\e]633;E;%s;%s\a' (__termhost_escape "$argv[1]") $__termhost_nonce
            end
            printf '\e]633;C;%s\a' $__termhost_nonce
        end >/dev/tty
    end

    function __termhost_postexec --on-event fish_postexec
        set -l fish_trace
        printf '\e]633;D;%s;%s\a' $status $__termhost_nonce >/dev/tty
    end

    function __termhost_prompt --on-event fish_prompt
        set -l fish_trace
        printf '\e]633;P;Cwd=%s;%s\a\e]633;A;%s\a' (__termhost_escape "$PWD") \
            $__termhost_nonce $__termhost_nonce >/dev/tty
    end
end
