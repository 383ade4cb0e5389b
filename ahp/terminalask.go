package ahp

import "time"

// The effects of a [TerminalAsk].
const (
	// AskRuns: the text has an Enter, or another character with which something is run.
	AskRuns = "runs"
	// AskTypes: the text only stands there.
	AskTypes = "types"
	// AskActs: it has no Enter, but each key may act by itself, as in programs that wait for none.
	AskActs = "acts"
	// AskStarts: it is the program of a new terminal.
	AskStarts = "starts"
	// AskElsewhere: it is what the agent wants to do, which its editor's user has to permit there.
	AskElsewhere = "elsewhere"
)

// TerminalAsk is an agent's pending input to a guarded terminal. The text may be confidential, so
// it is for principals that could ever decide about it, and for the agent itself.
type TerminalAsk struct {
	Ask   string    `json:"ask"` // what termhost/approve calls it: "@7"
	By    string    `json:"by"`
	Since time.Time `json:"since"`
	Does  string    `json:"does"` // AskRuns, AskTypes, AskActs, AskStarts or AskElsewhere
	Text  string    `json:"text"` // exactly what will be typed; "" if it is a secret
	// Secret: the program reads a secret, so Text and Lines are left out.
	Secret bool `json:"secret,omitempty"`
	// Lines is the text as people are shown it. It is never modified.
	Lines [][]AskPart `json:"lines,omitempty"`
	// Hidden is how many signs there are in Lines beside ends of lines.
	Hidden int `json:"hidden,omitempty"`
	// Warning says what else people have to know before they approve: that the program for which
	// the text was meant has gone, or that the text joins half a line; "": nothing.
	Warning string `json:"warning,omitempty"`
	// All: yes to all that the agent types until the command ends is possible.
	All bool `json:"all,omitempty"`

	// Asker is the ID of the principal that asks. It is not sent to anybody.
	Asker string `json:"-"`
}

// AskPart is a piece of a line of a [TerminalAsk]: literal text, or a sign that stands for
// characters which would not be seen, or would act. One of both is set.
type AskPart struct {
	Text string `json:"text,omitempty"`
	Sign string `json:"sign,omitempty"`
}
