package config

import (
	"strings"
	"testing"
	"time"
)

func TestByteSizes(t *testing.T) {
	for in, want := range map[string]Size{
		"0B": 0, "512B": 512, "64KiB": 64 << 10, "1MiB": 1 << 20, "3GiB": 3 << 30, "1536KiB": 1536 << 10,
	} {
		var s Size
		if err := s.UnmarshalText([]byte(in)); err != nil || s != want {
			t.Errorf("%q: %d, %v; want %d", in, s, err, want)
		}
		var again Size
		if err := again.UnmarshalText([]byte(s.String())); err != nil || again != s {
			t.Errorf("%q is written as %q, which reads as %d, %v", in, s, again, err)
		}
	}
	for in, want := range map[string]string{
		"1048576":              "no unit: write \"1048576B\"",
		"":                     "is not a size",
		"MiB":                  "is not a size",
		"-1B":                  "is not a size",
		"1.5MiB":               "is not a size",
		"1MB":                  "unknown unit",
		"1 MiB":                "unknown unit",
		"1mib":                 "unknown unit",
		"8589934592GiB":        "too large",
		"99999999999999999999": "too large",
	} {
		var s Size
		if err := s.UnmarshalText([]byte(in)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want an error with %q", in, err, want)
		}
	}
}

func TestDurations(t *testing.T) {
	for in, want := range map[string]string{"30s": "30s", "90s": "1m30s", "5m": "5m", "8h": "8h", "1h30m": "1h30m", "0s": "0s", "250ms": "250ms"} {
		var d Duration
		if err := d.UnmarshalText([]byte(in)); err != nil || d.String() != want {
			t.Errorf("%q: %v, %v; want %s", in, d, err, want)
		}
		if back, err := time.ParseDuration(d.String()); err != nil || Duration(back) != d {
			t.Errorf("%q is written as %q", in, d)
		}
	}
	for in, want := range map[string]string{
		"30": "write \"30s\"", "0": "no unit", "1.5": "no unit", "1d": "write \"24h\"", "-5s": "negative", "-0s": "negative", "+5s": "is not a duration",
		"": "is not a duration", "5 m": "is not a duration", "inf": "is not a duration", "xd": "is not a duration",
	} {
		var d Duration
		if err := d.UnmarshalText([]byte(in)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want an error with %q", in, err, want)
		}
	}
}

func TestPrefixKeys(t *testing.T) {
	for in, want := range map[string]PrefixKey{
		`ctrl-\`: 0x1c, "ctrl-a": 1, "Ctrl-A": 1, "C-b": 2, "^z": 26, "ctrl-]": 0x1d, "ctrl-^": 0x1e, "ctrl-_": 0x1f, "none": 0, "": 0,
	} {
		var k PrefixKey
		if err := k.UnmarshalText([]byte(in)); err != nil || k != want {
			t.Errorf("%q: %#x, %v; want %#x", in, byte(k), err, byte(want))
		}
		var again PrefixKey
		if err := again.UnmarshalText([]byte(k.String())); err != nil || again != k {
			t.Errorf("%q is written as %q, which reads as %#x, %v", in, k, byte(again), err)
		}
	}
	for _, in := range []string{"a", "ctrl-", "ctrl-ab", "ctrl-1", "ctrl-@", "ctrl-[", "ctrl-c", "ctrl-d", "ctrl-i", "ctrl-j", "ctrl-m", "alt-a", "ctrl-é"} {
		k := PrefixKey(99)
		if err := k.UnmarshalText([]byte(in)); err == nil || k != 99 {
			t.Errorf("%q: %#x, %v; want an error", in, byte(k), err)
		}
	}
}
