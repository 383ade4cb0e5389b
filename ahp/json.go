package ahp

import (
	"bytes"
	"encoding/json"

	"github.com/go-json-experiment/json/jsontext"
)

// Encode returns v as JSON. It panics if v has a field that cannot be encoded, which depends on its
// type alone. What is sent with every key or piece of output, and the lists of all terminals, are
// not encoded so: the Append functions take a fifth of the time.
func Encode(v any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("ahp: it cannot be encoded: " + err.Error())
	}
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'})
}

// AppendNotification appends a notification (JSON-RPC 2.0, section 4.1), but for actions: those are
// appended as an [Envelope].
func AppendNotification(dst []byte, method string, params any) []byte {
	dst = append(append(dst, `{"jsonrpc":"2.0","method":"`...), method...)
	dst = append(append(dst, `","params":`...), Encode(params)...)
	return append(dst, '}')
}

// AppendJSONString appends p as a JSON string. Bytes that are not UTF-8 become U+FFFD, since JSON
// must be UTF-8 (RFC 8259 section 8.1).
func AppendJSONString[T ~string | ~[]byte](dst []byte, p T) []byte {
	dst, _ = jsontext.AppendQuote(dst, p) // an error means that it was not UTF-8
	return dst
}

// appendField appends `,"key":` to the beginning of an object; without the comma if it
// is the first field.
func appendField(dst []byte, key string) []byte {
	if n := len(dst); n > 0 && dst[n-1] != '{' {
		dst = append(dst, ',')
	}
	dst = append(dst, '"')
	dst = append(dst, key...)
	return append(dst, '"', ':')
}

// appendText appends output or input as a JSON string, as AppendJSONString does.
func appendText(dst, p []byte) []byte {
	return append(appendEscaped(append(dst, '"'), p), '"')
}

func appendStringField(dst []byte, key, value string) []byte {
	return AppendJSONString(appendField(dst, key), value)
}

func appendBoolField(dst []byte, key string, value bool) []byte {
	dst = appendField(dst, key)
	if value {
		return append(dst, "true"...)
	}
	return append(dst, "false"...)
}

// appendRaw appends raw JSON, or null if there is none.
func appendRaw(dst []byte, raw json.RawMessage) []byte {
	if len(raw) == 0 {
		return append(dst, "null"...)
	}
	return append(dst, raw...)
}

// notNull returns raw, or nil if it is null: a field that is null counts as absent.
func notNull(raw json.RawMessage) json.RawMessage {
	if string(raw) == "null" {
		return nil
	}
	return raw
}
