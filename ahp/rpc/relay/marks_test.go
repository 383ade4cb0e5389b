package relay

import "testing"

func TestADoorRemembersWhatItsNumbersWere(t *testing.T) {
	var m Memory
	for i := range uint64(maxMarks + 10) {
		m.add("box", 100+10*i, 5000+i)
	}
	m.add("box", 100_000, 3) // no honest host numbers downwards
	last := uint64(5000 + maxMarks + 9)
	for door, want := range map[uint64]uint64{
		0: 0, 100: 0, // forgotten
		100 + 10*maxMarks:     5000 + maxMarks,
		100 + 10*maxMarks + 9: 5000 + maxMarks,
		99_999:                last,
		1 << 60:               last,
	} {
		if got := m.seen("box", door); got != want {
			t.Errorf("who has seen %d has seen %d, want %d", door, got, want)
		}
	}
	if got := m.seen("other", 1<<60); got != 0 {
		t.Errorf("of another host it is %d", got)
	}
}
