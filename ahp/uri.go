package ahp

import (
	"net/url"
	"path"
	"strings"
)

// RootURI is the channel of the host itself.
const RootURI = "ahp-root://"

// MaxURI is the longest channel URI accepted, in bytes: long enough for any
// client's naming scheme, short enough to repeat in every envelope.
const MaxURI = 256

// NormalizeChannel returns the one spelling under which a channel is known:
// the scheme and host in lower case, no empty authority, the path cleaned and
// without needless escapes (RFC 3986 section 6.2.2). To normalize again changes
// nothing. It reports false for what is no absolute URI with a path, of at most
// [MaxURI] bytes as given and as returned. "ahp-root:" and "ahp-root:///" are
// [RootURI].
func NormalizeChannel(s string) (string, bool) {
	if s == "" || len(s) > MaxURI {
		return "", false
	}
	u, err := url.Parse(s)
	if err != nil || u.Scheme == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.ForceQuery {
		return "", false
	}
	if u.Scheme == "ahp-root" {
		if u.Host != "" || u.Opaque != "" || strings.Trim(u.Path, "/") != "" {
			return "", false
		}
		return RootURI, true
	}
	if u.Opaque != "" || u.Path == "" {
		return "", false
	}
	u.Host = strings.ToLower(u.Host)
	u.OmitHost = u.Host == ""
	u.Path = path.Clean(u.Path)
	u.RawPath = ""
	channel := u.String()
	return channel, len(channel) <= MaxURI
}

// TerminalName returns the NAME of a terminal's normalized channel, its last
// path segment, and whether the channel may be a terminal's at all: a scheme
// that is not another kind of channel's, and a NAME of 1 to 64 letters,
// digits, dots, underscores and dashes.
func TerminalName(channel string) (string, bool) {
	scheme, rest, ok := strings.Cut(channel, ":")
	if !ok {
		return "", false
	}
	switch scheme {
	case "ahp-root", "ahp-session", "ahp-chat", "ahp-changeset", "root", "session", "chat", "changeset": // AHP's other channels
		return "", false
	}
	name := rest[strings.LastIndexByte(rest, '/')+1:]
	return name, ValidName(name)
}

// MaxName is the longest NAME of a terminal in bytes.
const MaxName = 64

// ValidName reports whether name may be a terminal's NAME.
func ValidName(name string) bool {
	if name == "" || len(name) > MaxName || name == "." || name == ".." {
		return false
	}
	for i := range len(name) {
		c := name[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '.', c == '_', c == '-':
		default:
			return false
		}
	}
	return true
}

// TerminalURI returns the channel termhost gives a terminal it names itself.
func TerminalURI(name string) string { return "ahp-terminal:/" + name }

// FileURI returns the file URI of an absolute path.
func FileURI(p string) string {
	return (&url.URL{Scheme: "file", Path: p}).String()
}

// FilePath returns the absolute path a file URI names; the host must be empty
// or "localhost".
func FilePath(uri string) (string, bool) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Host != "" && !strings.EqualFold(u.Host, "localhost") ||
		!path.IsAbs(u.Path) || strings.IndexByte(u.Path, 0) >= 0 {
		return "", false
	}
	return path.Clean(u.Path), true
}
