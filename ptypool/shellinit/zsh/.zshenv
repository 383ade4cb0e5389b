# termhost's shell integration for zsh.
#
# zsh finds this file because ZDOTDIR names its folder. It gives ZDOTDIR back first, so that zsh reads the user's own
# .zprofile, .zshrc and .zlogin by itself, and reads the user's .zshenv in its place.
#
# Afterwards the shell tells its terminal, by OSC 633: A at a prompt, B at its end, E with the command line and C when a
# command begins, D with its exit status when it has ended, P;Cwd with the directory. Nothing is exported, so that a
# shell inside this one stays silent.

if [[ -n ${TERMHOST_ZDOTDIR+set} ]]; then
	export ZDOTDIR=$TERMHOST_ZDOTDIR
	unset TERMHOST_ZDOTDIR
else
	unset ZDOTDIR
fi

if [[ -o interactive && -n ${TERMHOST_NONCE-} ]]; then
	typeset -g __termhost_nonce=$TERMHOST_NONCE __termhost_ran=
	typeset -ga precmd_functions preexec_functions

	# Answers, in the caller's variable text, $1 with what OSC 633 reserves written as \\ and \xHH.
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
		emulate -L zsh
		# $1 is the line as it was typed; empty when there is no history to take it from.
		local line=${1:-$3} text
		__termhost_ran=1
		{
			if [[ -n $line ]] && ((${#line} <= 16384)); then
				__termhost_escape "$line"
				builtin printf '\e]633;E;%s;%s\a' "$text" "$__termhost_nonce"
			fi
			builtin printf '\e]633;C\a'
		} >/dev/tty
	}

	# First of the hooks: zsh gives each of them the command's status.
	__termhost_first() {
		local ended=$?
		emulate -L zsh
		local text
		__termhost_escape "$PWD"
		{
			[[ -z $__termhost_ran ]] || builtin printf '\e]633;D;%s\a' "$ended"
			builtin printf '\e]633;P;Cwd=%s\a\e]633;A\a' "$text"
		} >/dev/tty
		__termhost_ran=
	}

	# Last of the hooks: puts the mark back into a prompt that was made anew.
	__termhost_last() {
		[[ -o promptpercent ]] || return 0
		emulate -L zsh
		local end=$'%{\e]633;B\a%}'
		[[ $PS1 == *"$end" ]] || PS1=${PS1//"$end"/}$end
		if [[ $precmd_functions[-1] != __termhost_last ]]; then
			precmd_functions=(${precmd_functions:#__termhost_last} __termhost_last)
		fi
		return 0
	}

	precmd_functions=(__termhost_first $precmd_functions __termhost_last)
	preexec_functions+=(__termhost_preexec)
fi
unset TERMHOST_NONCE

if [[ -r ${ZDOTDIR-$HOME}/.zshenv ]]; then
	source "${ZDOTDIR-$HOME}/.zshenv"
fi
