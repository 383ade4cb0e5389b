package carry_test

import (
	"strings"
	"testing"

	"termhost/ahp/hosttest/slowtest"
	"termhost/sshd/viewertest"
)

// TestWhatIsTypedInTheFirstSecondsOfASilenceIsNotTypedLater: for seconds nobody knows that the host
// is silent, and so nobody refuses it.
func TestWhatIsTypedInTheFirstSecondsOfASilenceIsNotTypedLater(t *testing.T) {
	slowtest.Skip(t)
	w, home, _ := newTown(t, "box1")
	home.makes("box1", "there", "there-")
	p := home.sits("attach box1/there")
	p.Sees("there-")
	p.Types("ant")
	p.Sees("ant")
	w.cut("box1", true)
	p.Types("c")
	p.Types("at\r")
	p.Sees("keys are refused")
	w.cut("box1", false)
	p.Sees("box1 was silent; not typed: 4 keys")
	typesBee(p)
	home.have(map[string]string{"box1/there": "there-antbee"})
	p.Types(pressed("d"))
	p.SeesAll()
	<-p.Status
}

// TestAPasteOfWhichAPartComesTooLateIsNotTypedOn: what follows would be typed, line by line.
func TestAPasteOfWhichAPartComesTooLateIsNotTypedOn(t *testing.T) {
	slowtest.Skip(t)
	w, home, _ := newTown(t, "box1")
	home.makes("box1", "there", "there-")
	p := home.sits("attach box1/there")
	p.Sees("there-")
	p.Types("\x1b[200~begun ")
	p.Sees("begun")
	w.cut("box1", true)
	p.Types("late\r")
	p.Sees("keys are refused")
	w.cut("box1", false)
	p.Sees("box1 was silent; not typed: 1 key")
	p.Types("rest\r" + strings.Repeat("rest ", 100) + "\x1b[201~")
	typesBee(p)
	home.have(map[string]string{"box1/there": "there-^[[200~begun ^[[201~bee"})
	p.Types(pressed("d"))
	p.SeesAll()
	<-p.Status
}

// typesBee types until keys are not refused any more: the host is back, but nobody knows yet.
func typesBee(p *viewertest.Person) {
	for p.Types("bee"); p.SeesOneOf("bee", "\a") == "\a"; {
		p.Types("bee")
	}
}
