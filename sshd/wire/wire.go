// Package wire has what termhost's SSH server and its client on the same machine say to each other
// beyond what SSH and OpenSSH define. The client is cmd/termhost/local.
package wire

// InputTaken is the name of a channel request by which the client asks how much of the channel's
// input the terminals have taken. The server answers with global requests of the same name, which
// want no reply and whose payload is a [Taken], whenever that has changed.
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
