package rpc

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxDepth bounds how deeply a message may nest: AHP's own nest to 8.
const maxDepth = 32

var (
	errUTF8  = errors.New("the message is not valid UTF-8, and nothing of it was taken")
	errDepth = fmt.Errorf("the message nests deeper than %d", maxDepth)
)

// maxKeyName is how much of a key's name is repeated, in bytes.
const maxKeyName = 64

// duplicateError says that two keys of one object are equal, or differ in case
// only. encoding/json would take the one for the other, and so might a proxy
// that looked at the message before: it is never right to guess.
type duplicateError struct{ key string }

func (e *duplicateError) Error() string {
	return fmt.Sprintf("the key %q stands twice in one object, perhaps in another case", e.key)
}

// scan looks through a message that is valid JSON for what encoding/json lets
// pass: invalid UTF-8, bottomless nesting, and keys that stand twice. Nothing of a
// message that is refused is taken; the connection goes on with the next one.
func scan(msg []byte) error {
	if !utf8.Valid(msg) {
		return errUTF8
	}
	s := scanner{msg: msg}
	return s.value(0, protocol)
}

type scanner struct {
	msg []byte
	pos int
}

// place is where in a message an object stands.
type place int

const (
	protocol place = iota // anywhere else
	meta                  // in a _meta
	data                  // in an env of one: its keys are data
)

// in returns the place of an object that stands under a key. Host-specific parameters
// are in a _meta, environment variables among them, of which http_proxy and HTTP_PROXY
// are two.
func (p place) in(key string) place {
	switch key = unescape(key); {
	case p == protocol && strings.EqualFold(key, "_meta"):
		return meta
	case p == meta && strings.EqualFold(key, "env"):
		return data
	}
	return p
}

func (s *scanner) value(depth int, at place) error {
	s.space()
	if s.pos == len(s.msg) {
		return nil
	}
	switch s.msg[s.pos] {
	case '{', '[':
		if depth == maxDepth {
			return errDepth
		}
		return s.container(depth+1, s.msg[s.pos] == '{', at)
	case '"':
		s.str()
	default:
		for s.pos < len(s.msg) && !strings.ContainsRune(",]} \t\r\n", rune(s.msg[s.pos])) {
			s.pos++
		}
	}
	return nil
}

// container scans an object or array; pos is at its first byte.
func (s *scanner) container(depth int, object bool, at place) error {
	s.pos++
	keys := keySet{data: at == data}
	for s.space(); s.pos < len(s.msg); s.space() {
		switch s.msg[s.pos] {
		case '}', ']':
			s.pos++
			return nil
		case ',':
			s.pos++
			continue
		}
		inner := at
		if object {
			key := s.str()
			if !keys.add(key) {
				return &duplicateError{key[:min(len(key), maxKeyName)]}
			}
			inner = at.in(key)
			s.space()
			s.pos++ // the colon
		}
		if err := s.value(depth, inner); err != nil {
			return err
		}
	}
	return nil
}

func (s *scanner) space() {
	for s.pos < len(s.msg) && strings.IndexByte(" \t\r\n", s.msg[s.pos]) >= 0 {
		s.pos++
	}
}

// str scans a string and returns what is between its quotes, escapes and all. A
// key written with an escape is compared after unescaping, by keySet.
func (s *scanner) str() string {
	start := s.pos + 1
	for s.pos++; s.pos < len(s.msg); s.pos++ {
		switch s.msg[s.pos] {
		case '\\':
			s.pos++
		case '"':
			s.pos++
			return string(s.msg[start : s.pos-1])
		}
	}
	return string(s.msg[min(start, len(s.msg)):])
}
