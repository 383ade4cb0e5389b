package ahptest

import (
	"math/rand/v2"
	"testing"
)

// Choices makes the decisions of a test that drives something at random and knows what must come
// of it. The same choices make the same run. Not safe for concurrent use.
type Choices interface {
	// N returns a number from 0 to max - 1.
	N(max int) int
	// More tells whether there is another step to take.
	More() bool
}

// RandomChoices returns choices at random for a run of so many steps. The same seed makes the same
// ones.
func RandomChoices(seed uint64, steps int) Choices {
	return &randomChoices{rand.New(rand.NewPCG(seed, 7)), steps}
}

type randomChoices struct {
	*rand.Rand
	left int
}

func (c *randomChoices) N(max int) int { return c.IntN(max) }

func (c *randomChoices) More() bool {
	c.left--
	return c.left >= 0
}

// ByteChoices returns the choices that a fuzzer's bytes are: a byte each, and the run ends with
// them.
func ByteChoices(b []byte) Choices { return (*byteChoices)(&b) }

type byteChoices []byte

func (c *byteChoices) N(max int) int {
	if len(*c) == 0 {
		return 0
	}
	b := (*c)[0]
	*c = (*c)[1:]
	return int(b) % max
}

func (c *byteChoices) More() bool { return len(*c) > 0 }

// FuzzChoices fuzzes a run. It begins with a few that are as many bytes long as given, and lets
// none be longer than most.
func FuzzChoices(f *testing.F, bytes, most int, run func(*testing.T, Choices)) {
	for seed := range uint64(8) {
		rng := rand.New(rand.NewPCG(seed, 3))
		b := make([]byte, bytes)
		for i := range b {
			b[i] = byte(rng.Uint32())
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) { run(t, ByteChoices(b[:min(len(b), most)])) })
}
