# termhost's shell integration for zsh.
#
# zsh finds this file because ZDOTDIR names its folder. This file first sets ZDOTDIR back, so that
# zsh reads the user's own .zprofile, .zshrc and .zlogin by itself, and at its end reads the user's
# .zshenv, in whose place zsh has read this one.
#
# Afterwards the shell tells its terminal, by OSC 633 marks: A at a prompt, E with the command line
# and C when a command begins, D with its exit status when it has ended, P;Cwd with the directory.
# Each ends with the nonce, so that no program can forge one. Nothing is exported, so that a shell
# inside this one stays silent.

if [[ -n ${TERMHOST_ZDOTDIR+set} ]]; then
	export ZDOTDIR=$TERMHOST_ZDOTDIR
	unset TERMHOST_ZDOTDIR
else
	unset ZDOTDIR
fi

# The nonce comes on a descriptor that can be read once. -H keeps it out of what typeset and set
# print.
typeset -gH +x __termhost_nonce=
if [[ ${TERMHOST_NONCE_FD-} == 3 ]]; then
	IFS= read -r -u 3 __termhost_nonce
	exec 3<&-
fi 2>/dev/null
unset TERMHOST_NONCE_FD

if [[ -o interactive && -n $__termhost_nonce ]]; then
	typeset -g __termhost_ran=
	typeset -ga precmd_functions preexec_functions

	# Sets the caller's variable text to $1, with what OSC 633 reserves written as \\ and \xHH.
	__termhost_escape() {
		emulate -L zsh
		local i c
		text=${1//\\/\\\\}
		text=${text//;/\\x3b}
		text=${text//$'\n'/\\x0a}
		[[ $text == *[[:cntrl:]]* ]] || return 0
		for i in {1..31} 127; do
			c=${(#)i}
			text=${text//"$c"/\\x${(l:2::0:)$(([##16]i))}}
		done
	}

	__termhost_preexec() {
		{ emulate -L zsh; unsetopt xtrace; } 2>/dev/null # a trace would have the nonce
		# $1 is the line as it was typed; empty when there is no history to take it from.
		local line=${1:-$3} text
		__termhost_ran=1
		# The user may have set the hooks anew.
		((${precmd_functions[(I)__termhost_first]})) ||
			precmd_functions=(__termhost_first $precmd_functions)
		{
			if [[ -n $line ]] && ((${#line} <= 16384)); then
				__termhost_escape "$line"
				builtin printf '\e]633;E;%s;%s\a' "$text" "$__termhost_nonce"
			fi
			builtin printf '\e]633;C;%s\a' "$__termhost_nonce"
		} >/dev/tty
	}

	# First of the hooks: zsh gives each of them the command's status.
	__termhost_first() {
		local ended=$?
		{ emulate -L zsh; unsetopt xtrace; } 2>/dev/null
		local text nonce=$__termhost_nonce
		__termhost_escape "$PWD"
		{
			[[ -z $__termhost_ran ]] || builtin printf '\e]633;D;%s;%s\a' "$ended" "$nonce"
			builtin printf '\e]633;P;Cwd=%s;%s\a\e]633;A;%s\a' "$text" "$nonce" "$nonce"
		} >/dev/tty
		__termhost_ran=
	}

	precmd_functions=(__termhost_first $precmd_functions)
	preexec_functions+=(__termhost_preexec)
fi

if [[ -r ${ZDOTDIR-$HOME}/.zshenv ]]; then
	source "${ZDOTDIR-$HOME}/.zshenv"
fi
