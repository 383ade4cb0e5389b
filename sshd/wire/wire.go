// Package wire has the messages between termhost's SSH server and its own client that neither SSH
// nor OpenSSH defines. The client is cmd/termhost/local.
package wire

// InputTaken is the name of a channel request by which the client asks how much of the channel's
// input the terminals have taken. The server answers with global requests of the same name, which
// want no reply and whose payload is a [Taken], whenever that has changed; and it tells which
// terminal is shown, with global requests called [ShowsTerminal].
const InputTaken = "taken@termhost"

// Taken is how much of a channel's input the terminals have taken, as golang.org/x/crypto/ssh
// marshals it.
type Taken struct {
	Bytes uint64 // from the beginning of the input; they can no longer be lost
	Shown bool   // the program shows what is typed next: it is no secret
}

// ConfigVariable is the environment variable with which the client names its configuration file, as
// one word of a shell command. The server puts it into the commands that it tells the user to type.
const ConfigVariable = "TERMHOST_CONFIG"

// ShowsTerminal is the name of a channel request by which a host tells another one, which has
// carried a viewer to it, what the viewer sees: the payload is a [Shows]. It wants no reply. A
// client that has asked for [InputTaken] is told the same with global requests.
const ShowsTerminal = "shows@termhost"

// Shows is a terminal that a viewer sees, as golang.org/x/crypto/ssh marshals it. Without a Name,
// the last one has ended, and the viewer does next.
type Shows struct {
	Name     string
	ReadOnly bool
	Later    []byte `ssh:"rest"` // what a host of a later version adds
}

// Arrives is the name of a channel request by which a host that carries a viewer to another one
// says that its person comes from another terminal: the payload is an [Arrival]. It wants no reply,
// and precedes the command. A client whose person comes back after a loss of the connection says
// so, too; of that only the Text counts.
const Arrives = "arrives@termhost"

// Arrival tells a viewer about a person that comes from another terminal, as
// golang.org/x/crypto/ssh marshals it.
type Arrival struct {
	Text string // why, in words for them
	Away bool   // they go back when this terminal has ended

	Later []byte `ssh:"rest"` // what a host of a later version adds
}

// Listed is the name of a channel request by which a host that carries a viewer to another one says
// that its person goes back to a list, which says how the viewer has ended. It has no payload,
// wants no reply, and precedes the command.
const Listed = "listed@termhost"

// WantElsewhere is the name of a channel request by which a host that carries a viewer to another
// one says how many terminals of all other hosts want its person: the payload is a [Count]. It
// wants no reply, and comes whenever that has changed. The number is all that the viewer's host
// learns of them. A host that is sent a person takes it from the one that sends them; nobody takes
// it from a host to which it has sent somebody.
const WantElsewhere = "wantelsewhere@termhost"

// Dismissed is the name of a channel request by which a host tells another one, which has carried
// somebody to it, that it has ended that person's login and has told them why. The host itself goes
// on. It has no payload, wants no reply, and precedes the exit status.
const Dismissed = "dismissed@termhost"

// Typed is the name of a channel request by which a host that carries somebody with a terminal to
// another one asks whether what they type may come as messages: see package typed. It has no
// payload, wants a reply, and precedes the command.
const Typed = "typed@termhost"

// NotTyped is the name of a channel request by which a host tells another one, from which typed
// messages come, how many keys it has dropped because they have come too late: the payload is a
// [Keys]. It wants no reply.
const NotTyped = "nottyped@termhost"

// Keys is a number of keys, as golang.org/x/crypto/ssh marshals it.
type Keys struct{ Count uint32 }

// Count is a number of terminals, as golang.org/x/crypto/ssh marshals it.
type Count struct{ Count uint32 }

// EndOfWrite is the request with which OpenSSH's clients say that they can write no more of the
// channel's output (PROTOCOL, section 2.1), and its server that it reads no more of the input. They
// send it to peers whose version is OpenSSH's.
const EndOfWrite = "eow@openssh.com"
