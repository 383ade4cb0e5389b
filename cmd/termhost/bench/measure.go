package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// measurement is something that is measured of each server.
type measurement struct {
	Table // without samples
	// start starts the servers; nil: [StartRivals] does.
	start func(program, dir string) (*Rivals, error)
	// prepare makes ready to measure a server. [errors.ErrUnsupported]: it has nothing like that.
	prepare func(r *Rival) (*probe, error)
	// fresh has every round begin with servers that have just been started: one that has been used
	// holds memory that it takes again.
	fresh bool
	// rounds is how many there are; 0: as many as of others.
	rounds int
}

// probe is a server that is ready to be measured.
type probe struct {
	// sample returns a value for each of the measurement's figures; NaN: the server has none.
	sample func() ([]float64, error)
	close  func()
}

// effort is how much is measured in each round.
type effort struct {
	rounds  int
	keys    int           // of each kind of echo
	keysFor time.Duration // after which no more keys are typed
	flood   int           // bytes of a file
	crowds  []crowd
	logins  int // of each kind
	idle    int // viewers, and terminals
	still   still
}

// crowd is how many viewers a terminal has, and how much it prints to them, in bytes.
type crowd struct{ viewers, size int }

// thorough returns what gives figures to rely on. An idle host collects garbage every two minutes
// (Go's runtime forces that), so it is measured for as long.
func thorough() effort {
	return effort{rounds: 7, keys: 2000, keysFor: 5 * time.Second, flood: 64 << 20,
		crowds: []crowd{{1, 32 << 20}, {10, 16 << 20}, {50, 8 << 20}}, logins: 5, idle: 20,
		still: still{500, 100, 75 * time.Second, 2 * time.Minute}}
}

// quick returns what takes less than two minutes.
func quick() effort {
	return effort{rounds: 3, keys: 200, keysFor: 700 * time.Millisecond, flood: 16 << 20,
		crowds: []crowd{{1, 8 << 20}, {10, 4 << 20}, {50, 1 << 20}}, logins: 2, idle: 8,
		still: still{50, 10, 2 * time.Second, 5 * time.Second}}
}

// historySize is how much a terminal has printed before somebody attaches to it, in bytes.
const historySize = 1 << 20

// text is what is printed in a terminal: shell that prints so many bytes.
type text struct {
	print string
	size  int
}

// line is a coloured line as a build prints them.
var line = "\x1b[32m" + strings.Repeat("the quick brown fox ", 4) + "abcdefg\x1b[0m\n"

// floodLines returns text of such lines, of at most size bytes, that needs no file.
func floodLines(size int) text {
	n := size / len(line)
	escaped := strings.NewReplacer("\x1b", `\033`, "\n", "").Replace(line)
	return text{fmt.Sprintf(`yes "$(printf '%s')" | head -n %d`, escaped, n), n * len(line)}
}

// FloodFile makes a file of such lines, of at most size bytes.
func FloodFile(dir string, size int) (string, error) {
	file := filepath.Join(dir, fmt.Sprintf("flood-%d", size))
	return file, os.WriteFile(file, []byte(strings.Repeat(line, size/len(line))), 0o600)
}

// fileSize returns the size of a file in bytes.
func fileSize(file string) (float64, error) {
	st, err := os.Stat(file)
	if err != nil {
		return 0, err
	}
	return float64(st.Size()), nil
}
