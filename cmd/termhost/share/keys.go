package share

import (
	"time"

	"termhost/ptypool/keyboard"
)

const (
	// prefixKey begins the keys that are for share: Ctrl-\, as while attached.
	prefixKey = 0x1c
	// helpTime is how long the user may hesitate after the prefix before the keys are shown.
	helpTime = 500 * time.Millisecond
)

// typedKeys takes the keys that are for share out of what the user types. It is used by one
// goroutine.
type typedKeys struct {
	program func(p []byte)      // passes p on to the program; p is not kept
	command func(key rune) bool // the key after the prefix; false if it is not one of ours
	help    func()

	filter keyboard.Filter
	timer  *time.Timer // until the help
}

// take handles what was read. p is not kept.
func (k *typedKeys) take(p []byte) {
	k.filter.Prefix = prefixKey
	k.filter.Feed(p, k)
}

// Typed passes p on to the program.
func (k *typedKeys) Typed(p []byte) { k.program(p) }

// Prefixed shows the help unless a key follows soon.
func (k *typedKeys) Prefixed() { k.timer = time.AfterFunc(helpTime, k.help) }

// Commanded does what the key after the prefix stands for. A key that is not for share is typed,
// with the prefix before it. The prefix pressed twice is typed once.
func (k *typedKeys) Commanded(key rune, form, raw []byte) {
	k.timer.Stop()
	switch {
	case key == prefixKey:
		k.program(raw)
	case key == 0 || !k.command(key):
		k.program(form)
		k.program(raw)
	}
}
