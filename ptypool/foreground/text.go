package foreground

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// The texts below have no blanks at their end.

// isQuestion reports whether text before the cursor looks like a question whose answer is typed
// after it: "Overwrite (y/n)?", "Password:", "[Y/n]", "name>".
func isQuestion(text string) bool {
	last, _ := utf8.DecodeLastRuneInString(strings.TrimRight(text, "\u00a0"))
	return strings.ContainsRune("?:)]}>»›…：？", last)
}

// commandPrompt matches the prompts of shells and interpreters, with or without what has been typed
// behind them: "$ ls", ">>> 1+", "mysql> select", "(gdb) ", "In [1]: ", "irb(main):001:0> ". The
// first word of it ends in one of the usual signs.
var commandPrompt = regexp.MustCompile(
	`^((\S*[$#%>❯➜λ»›]|\([A-Za-z-]+\)|In \[\d+\]:|\.\.\.)(\s|$)|.*[$#%❯➜]$)`)

// isCommandPrompt reports whether text before the cursor is a prompt for commands.
func isCommandPrompt(text string) bool { return commandPrompt.MatchString(text) }

// secretWord matches what programs call the secrets that they ask for.
var secretWord = regexp.MustCompile(
	`(?i)\b(pass\s?(word|phrase|code|wd)|pass|pin|secret|token|api key|otp|kennwort|passwort` +
		`|mot de passe|contraseña|senha|пароль)\b`)

// secretQuestion matches a question for a secret, with or without what shows how much was typed.
var secretQuestion = regexp.MustCompile(secretWord.String() + `[^?]*[:：>]\s*[*•]*$`)

// asksForSecret reports whether text before the cursor asks for a secret explicitly.
func asksForSecret(text string) bool { return secretQuestion.MatchString(text) }
