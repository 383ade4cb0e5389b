# termhost's shell integration for bash.
#
# bash reads this file in place of start-up files: as --rcfile when it is no login shell, as $ENV of
# "bash --posix" when it is one. This file then reads the user's own files exactly as bash would
# have. With bash older than 4.4, which has no PS0, that is all it does.
#
# Afterwards the shell tells its terminal, by OSC 633 marks: A at a prompt, E with the command line
# and C when a command begins, D with its exit status when it has ended, P;Cwd with the directory.
# Each ends with the nonce, so that no program can forge one. The end of a prompt is OSC 133;B, without
# the nonce: where prompts go to a file, programs may read it. Nothing is exported, so that a shell
# inside this one stays silent. History is read and never changed.

# Functions come first, because at this point no alias of the user's can get into them.

# Sets the caller's variable text to $1, with what OSC 633 reserves written as \\ and \xHH.
__termhost_escape() {
	local bs='\' i c
	text=${1//"$bs"/"$bs$bs"}
	text=${text//;/"${bs}x3b"}
	text=${text//$'\n'/"${bs}x0a"}
	[[ $text == *[[:cntrl:]]* ]] || return 0
	for i in {1..31} 127; do
		builtin printf -v i '%02x' "$i"
		builtin printf -v c "${bs}x$i"
		text=${text//"$c"/"${bs}x$i"}
	done
}

# Runs in a command substitution of PS0, after a command was read and before it is executed. bash
# prints its prompts on stderr. Where that is a file, programs may read it.
__termhost_preexec() {
	{ set +aeux; } 2>/dev/null
	[[ -t 2 ]] || exec >/dev/tty
	local HISTTIMEFORMAT= line again number text
	line= again=
	if [[ -o history ]]; then
		# "  503  echo one", or "  503* echo one" when the entry was edited.
		line=$(\builtin history 1) # not an alias: this is parsed when it runs
		line=${line#"${line%%[![:space:]]*}"}
		number=${line%%[!0-9]*}
		line=${line#"$number"}
		line=${line#[* ] }
		# If no entry was made for this command, the last entry may belong to another one. Where
		# only repetitions are left out, the last entry has the same text. Where the user has other
		# commands left out as well, this may be one of those, which the terminal knows that shows it:
		# it takes P;Again for the command line if it has the same text behind the prompt.
		if ((${number:-0} < ${__termhost_next:-0})) &&
			[[ ${HISTIGNORE-} || :${HISTCONTROL-}: == *:ignore@(space|both):* ]]; then
			again=$line line=
		fi
	fi
	if [[ $line ]] && ((${#line} <= 16384)); then
		__termhost_escape "$line"
		builtin printf '\e]633;E;%s;%s\a' "$text" "$__termhost_nonce"
	elif [[ $again ]] && ((${#again} <= 1024)); then
		__termhost_escape "$again"
		builtin printf '\e]633;P;Again=%s;%s\a' "$text" "$__termhost_nonce"
	fi
	builtin printf '\e]633;C;%s\a' "$__termhost_nonce"
}

# First in PROMPT_COMMAND: reports the end of the command, the directory and the prompt.
__termhost_first() {
	local status=$?
	{ local - text; set +aeux; } 2>/dev/null
	[[ ${__termhost_ran:-0} == 0 ]] ||
		builtin printf '\e]633;D;%s;%s\a' "$status" "$__termhost_nonce"
	__termhost_escape "$PWD"
	builtin printf '\e]633;P;Cwd=%s;%s\a\e]633;A;%s\a' "$text" "$__termhost_nonce" "$__termhost_nonce"
	__termhost_ran= __termhost_next= __termhost_told=1
	# bash before 5.1 has one PROMPT_COMMAND, and its next line wants to see the command's status.
	# But "set -e" would take a status returned here for a failure.
	case $__termhost_status$- in
	*e*) ;;
	1*) return "$status" ;;
	esac
} >/dev/tty

# Last in PROMPT_COMMAND: puts what notes and tells a command's beginning back into prompts that have
# been set anew.
__termhost_last() {
	local status=$?
	{ local - begin end before; set +aeux; } 2>/dev/null
	if [[ ! ${__termhost_told-} ]]; then # the user's PROMPT_COMMAND has lost its beginning
		(exit "$status")
		__termhost_first
	fi
	__termhost_told=
	if shopt -q promptvars; then
		# Both are expansions, and are empty in a shell that inherits PS1 or PS0 through the
		# environment. The ones of length 0 are there for their arithmetic, which notes something in
		# this shell: the number of the next history entry, and whether a command ran. If one did and
		# nothing has reported its end by now, the user has emptied PROMPT_COMMAND.
		begin='\[${__termhost_nonce:+${__termhost_if[__termhost_ran]:+$(__termhost_first)}'
		begin+='${__termhost_nonce:__termhost_ran=0,__termhost_next=\!:0}}\]'
		end='\[${__termhost_nonce:+\e]133;B\a}\]'
		before='${__termhost_nonce:+${__termhost_nonce:__termhost_ran=1:0}$(__termhost_preexec)}'
	else
		begin='' end='' before="\\e]633;C;$__termhost_nonce\\a" __termhost_ran=1
		export -n PS0 # it holds the nonce
		if [[ ! -t 2 ]]; then
			PS0=${PS0//"$before"/} before=
		fi
	fi
	if [[ ${PS1-} != "$begin"*"$end" ]]; then
		PS1=${PS1//"$begin"/}
		PS1=$begin${PS1//"$end"/}$end
	fi
	[[ ${PS0-} == *"$before"* ]] || PS0=${PS0-}$before
}

# Hooks the functions into the prompt, once, after the user's files. $1 is the DEBUG trap, which a
# function does not see.
__termhost_install() {
	local IFS=$' \t\n' last=__termhost_last
	unset -f __termhost_install
	if ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] < 404)) || [[ ! $__termhost_nonce ]]; then
		unset -f __termhost_first __termhost_last __termhost_preexec __termhost_escape
		unset __termhost_nonce
		return 0
	fi
	local -
	set +aeux
	[[ ${PROMPT_COMMAND@a} != *r* ]] || return 0 # the user wants it as it is
	__termhost_ran= __termhost_next= __termhost_told= __termhost_status= __termhost_if=([1]=1)
	# A user's DEBUG trap runs for every command of PROMPT_COMMAND too, and the usual ones (timers,
	# titles) count on the user's own last command being the last. So with a trap, nothing is added
	# at the end, and PS0 and PS1 get their marks this once only.
	if [[ $1 ]]; then
		__termhost_told=1
		__termhost_last
		last=
	fi
	if ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 501)); then
		# Every element sees the command's status.
		PROMPT_COMMAND=(__termhost_first "${PROMPT_COMMAND[@]}" ${last:+"$last"})
	else
		__termhost_status=1
		last=${last:+$'\n''${__termhost_nonce:+'$last'}'}
		PROMPT_COMMAND='${__termhost_nonce:+__termhost_first}'$'\n'${PROMPT_COMMAND-}$last
	fi
}

# The nonce comes on a descriptor that can be read once.
__termhost_nonce=
if [[ ${TERMHOST_NONCE_FD-} == 3 ]]; then
	IFS= read -r -u 3 __termhost_nonce
	exec 3<&-
fi 2>/dev/null
unset TERMHOST_NONCE_FD
export -n __termhost_nonce

if [[ -o posix ]]; then
	# A login shell. Leave POSIX mode and undo what it has changed: see "Bash POSIX Mode" in the
	# manual.
	set +o posix
	shopt -u inherit_errexit shift_verbose
	unset ENV
	if [[ ${TERMHOST_ENV+set} ]]; then
		export ENV=$TERMHOST_ENV
		unset TERMHOST_ENV
	fi
	[[ ${HISTFILE-} != ~/.sh_history ]] || HISTFILE=~/.bash_history
	[[ ! -r /etc/profile ]] || . /etc/profile
	if [[ -r ~/.bash_profile ]]; then
		. ~/.bash_profile
	elif [[ -r ~/.bash_login ]]; then
		. ~/.bash_login
	elif [[ -r ~/.profile ]]; then
		. ~/.profile
	fi
else
	[[ ! -r ~/.bashrc ]] || . ~/.bashrc
fi

# One command, because the user's DEBUG trap, if there is one, runs for it.
__termhost_install "$(trap -p DEBUG)"
