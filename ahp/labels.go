package ahp

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Labels are what people and agents sort terminals by: keys with values, such as project=web. The
// text has them as K=V, sorted and separated by commas, so that equal labels are equal texts. The
// zero value has none.
type Labels string

const (
	// MaxLabels is how many labels a terminal may have.
	MaxLabels = 16
	// maxLabelPart bounds a key and a value, in bytes, as in Kubernetes.
	maxLabelPart = 63
)

// ErrLabels refuses a label too many.
var ErrLabels = fmt.Errorf("a terminal has at most %d labels", MaxLabels)

// LabelError says that a text is no label.
type LabelError struct{ Text string }

func (e *LabelError) Error() string {
	return fmt.Sprintf("%.64q is not a label K=V: "+
		"K and V are letters, digits and ._-/:@+, at most %d",
		e.Text, maxLabelPart)
}

// ValidLabel reports whether a label may have a key and a value.
func ValidLabel(key, value string) bool {
	return key != "" && isLabelPart(key) && !strings.HasSuffix(key, "-") && isLabelPart(value)
}

func isLabelPart(s string) bool {
	return len(s) <= maxLabelPart && !strings.ContainsFunc(s, func(r rune) bool {
		plain := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		return !plain && !strings.ContainsRune("._-/:@+", r)
	})
}

// list returns the labels as K=V.
func (l Labels) list() []string {
	if l == "" {
		return nil
	}
	return strings.Split(string(l), ",")
}

// Get returns the value of a key, and whether there is one.
func (l Labels) Get(key string) (value string, ok bool) {
	for _, label := range l.list() {
		if k, v, _ := strings.Cut(label, "="); k == key {
			return v, true
		}
	}
	return "", false
}

// Map returns the labels by key.
func (l Labels) Map() map[string]string {
	m := map[string]string{}
	for _, label := range l.list() {
		k, v, _ := strings.Cut(label, "=")
		m[k] = v
	}
	return m
}

// String returns the labels for people: "project=web stage=test".
func (l Labels) String() string { return strings.ReplaceAll(string(l), ",", " ") }

// Set returns the labels with another one, or *LabelError or ErrLabels.
func (l Labels) Set(key, value string) (Labels, error) {
	if !ValidLabel(key, value) {
		return l, &LabelError{key + "=" + value}
	}
	m := l.Map()
	m[key] = value
	if len(m) > MaxLabels {
		return l, ErrLabels
	}
	return labelsOf(m), nil
}

// Without returns the labels without that of a key.
func (l Labels) Without(key string) Labels {
	m := l.Map()
	delete(m, key)
	return labelsOf(m)
}

// Change applies changes as people write them: K=V sets a label, K- takes it away.
func (l Labels) Change(changes ...string) (Labels, error) {
	for _, text := range changes {
		key, value, sets := strings.Cut(text, "=")
		if sets {
			var err error
			if l, err = l.Set(key, value); err != nil {
				return l, err
			}
			continue
		}
		key, removes := strings.CutSuffix(text, "-")
		if !removes || key == "" {
			return l, &LabelError{text}
		}
		l = l.Without(key)
	}
	return l, nil
}

func labelsOf(m map[string]string) Labels {
	list := make([]string, 0, len(m))
	for k, v := range m {
		list = append(list, k+"="+v)
	}
	slices.Sort(list)
	return Labels(strings.Join(list, ","))
}

// MarshalJSON writes an object of strings.
func (l Labels) MarshalJSON() ([]byte, error) { return Encode(l.Map()), nil }

// UnmarshalJSON reads an object of strings, each of which must be a label.
func (l *Labels) UnmarshalJSON(b []byte) error {
	var m map[string]string
	if err := unmarshal(b, &m); err != nil {
		return err
	}
	all := Labels("")
	for k, v := range m {
		var err error
		if all, err = all.Set(k, v); err != nil {
			return err
		}
	}
	*l = all
	return nil
}

// Selector selects terminals by their labels: conditions of which all must hold. The zero Selector
// selects all.
type Selector []condition

// condition holds if the label of a key is there or, with a value, has it; or not.
type condition struct {
	key, value      string
	valued, negated bool
}

var errSelector = errors.New("a selector is K=V, K!=V, K or !K, or several with commas: all hold")

// ParseSelector parses K=V, K!=V, K (there is a label), !K (there is none), and lists of them,
// separated by commas.
func ParseSelector(text string) (s Selector, err error) {
	for part := range strings.SplitSeq(text, ",") {
		c := condition{}
		if c.key, c.value, c.valued = strings.Cut(part, "="); c.valued {
			c.key, c.negated = strings.CutSuffix(c.key, "!")
		} else {
			c.key, c.negated = strings.CutPrefix(c.key, "!")
		}
		if !ValidLabel(c.key, c.value) {
			return nil, errSelector
		}
		s = append(s, c)
	}
	return s, nil
}

// Selects reports whether the labels fulfil all conditions.
func (s Selector) Selects(l Labels) bool {
	for _, c := range s {
		value, ok := l.Get(c.key)
		if holds := ok && (!c.valued || value == c.value); holds == c.negated {
			return false
		}
	}
	return true
}
