package rpc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

const (
	// maxDepth bounds the nesting of a message: AHP's own nest to 8.
	maxDepth = 32
	// maxKeys bounds the keys of one object: the environment of a terminal has some hundred.
	maxKeys = 1024
)

var (
	errJSON  = errors.New("the message is not valid JSON")
	errUTF8  = errors.New("the message is not valid UTF-8, and nothing of it was taken")
	errDepth = fmt.Errorf("the message nests deeper than %d", maxDepth)
	errKeys  = fmt.Errorf("an object has more than %d keys", maxKeys)
)

// maxKeyName bounds, in bytes, how much of a key's name an error repeats.
const maxKeyName = 64

// duplicateError refuses two keys of one object that are equal, or differ in case only. Some
// decoders take either for the same field, so a proxy that has checked the message may have seen
// the other value.
type duplicateError struct{ key string }

func (e *duplicateError) Error() string {
	return fmt.Sprintf("the key %q stands twice in one object, perhaps in another case", e.key)
}

// scan refuses what this host does not accept in a message: invalid JSON or UTF-8, deep nesting,
// very many keys, and duplicate ones. The message is refused as a whole, and the connection
// continues. It calls member with each key of the objects that a [level] names, without escapes,
// and the value, which is a part of msg.
func scan(msg []byte, member func(of level, key, value []byte)) error {
	if !utf8.Valid(msg) {
		return errUTF8
	}
	// Half of a surrogate pair may stand at the ends of output: see ahp.Surrogates.
	s := scanner{msg: msg, member: member, Decoder: jsontext.NewDecoder(bytes.NewBuffer(msg),
		jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))}
	if err := s.value(0, protocol, ofMessage); err != nil {
		if !jsontext.Value(msg).IsValid(s.Options()) { // further on
			return errJSON
		}
		return err
	}
	if _, err := s.ReadToken(); !errors.Is(err, io.EOF) {
		return errJSON
	}
	return nil
}

type scanner struct {
	*jsontext.Decoder
	msg    []byte
	member func(of level, key, value []byte)
}

// level names the objects whose members are handed out while a message is scanned, so that nothing
// of them has to be scanned again.
type level int

const (
	ofMessage level = iota
	ofParams        // of the message's params
	ofAction        // of the params' action
	ofOther         // these are not handed out
)

// in returns the level of the object that is the value of a key.
func (of level) in(key []byte) level {
	switch {
	case of == ofMessage && string(key) == "params":
		return ofParams
	case of == ofParams && string(key) == "action":
		return ofAction
	}
	return ofOther
}

// place is where an object is in a message.
type place int

const (
	protocol place = iota // anywhere else
	meta                  // in a _meta
	data                  // in the env of a _meta: its keys are data
)

// in returns the place of the value of a key. _meta holds this host's own parameters. One is env,
// an object of environment variables, in which http_proxy and HTTP_PROXY are different keys.
func (p place) in(key []byte) place {
	switch {
	case p == protocol && bytes.EqualFold(key, []byte("_meta")):
		return meta
	case p == meta && bytes.EqualFold(key, []byte("env")):
		return data
	}
	return p
}

// value reads a value.
func (s *scanner) value(depth int, at place, of level) error {
	kind := s.PeekKind()
	if kind == '{' || kind == '[' {
		if depth == maxDepth {
			return errDepth
		}
	}
	if _, err := s.ReadToken(); err != nil {
		return errJSON
	}
	switch kind {
	case '{':
		return s.object(depth+1, at, of)
	case '[':
		for {
			switch s.PeekKind() {
			case ']':
				if _, err := s.ReadToken(); err != nil {
					return errJSON
				}
				return nil
			case 0:
				return errJSON
			}
			if err := s.value(depth+1, at, ofOther); err != nil {
				return err
			}
		}
	}
	return nil
}

// object reads an object after its brace.
func (s *scanner) object(depth int, at place, of level) error {
	keys := keySet{data: at == data}
	for n := 0; s.PeekKind() == '"'; n++ {
		before := s.InputOffset()
		if _, err := s.ReadToken(); err != nil {
			return errJSON
		}
		key := s.msg[before:s.InputOffset()] // with the comma and space before it
		key = key[bytes.IndexByte(key, '"')+1 : len(key)-1]
		if n == maxKeys {
			return errKeys
		}
		name := unescape(key)
		if !keys.add(name) {
			return &duplicateError{string(key[:min(len(key), maxKeyName)])}
		}
		before = s.InputOffset()
		if err := s.value(depth, at.in(name), of.in(name)); err != nil {
			return err
		}
		if of != ofOther && s.member != nil {
			value := s.msg[before:s.InputOffset()]
			s.member(of, name, bytes.TrimLeft(value, ": \t\r\n"))
		}
	}
	if _, err := s.ReadToken(); err != nil { // the brace, or an error
		return errJSON
	}
	return nil
}

// unescape returns the key whose JSON, without quotes, is key.
func unescape(key []byte) []byte {
	if bytes.IndexByte(key, '\\') < 0 {
		return key
	}
	name, err := jsontext.AppendUnquote(nil, `"`+string(key)+`"`)
	if err != nil { // half of a surrogate pair
		return []byte(strings.ToValidUTF8(string(name), "\ufffd"))
	}
	return name
}
