package ahp

import (
	"net/url"
	"path"
	"strings"
)

// RootURI is the channel of the host itself.
const RootURI = "ahp-root://"

// MaxURI bounds a channel's URI, in bytes: long enough for the names of any client, and
// short enough to be in every envelope.
const MaxURI = 256

// NormalizeChannel returns the one spelling that is used for a channel: the scheme and
// host in lower case, no empty authority, the path cleaned and without needless
// escapes (RFC 3986 section 6.2.2). Normalizing it again changes nothing. The result
// is false unless s is an absolute URI with a path, and no longer than [MaxURI] before
// and after. "ahp-root:" and "ahp-root:///" are [RootURI].
func NormalizeChannel(s string) (string, bool) {
	if s == "" || len(s) > MaxURI {
		return "", false
	}
	u, err := url.Parse(s)
	if err != nil || u.Scheme == "" || u.User != nil || u.RawQuery != "" || u.ForceQuery ||
		u.Fragment != "" {
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

// TerminalName returns the NAME of a terminal, which is the last segment of its
// channel's path, and whether the normalized channel may be a terminal's at all: if
// its scheme is not that of another kind of channel, and the NAME is valid.
func TerminalName(channel string) (string, bool) {
	scheme, rest, ok := strings.Cut(channel, ":")
	if !ok {
		return "", false
	}
	switch scheme {
	case "ahp-root", "ahp-session", "ahp-chat", "ahp-changeset", // AHP's other channels
		"root", "session", "chat", "changeset":
		return "", false
	}
	name := rest[strings.LastIndexByte(rest, '/')+1:]
	return name, ValidName(name)
}

// MaxName is the longest NAME of a terminal in bytes.
const MaxName = 64

// ValidName reports whether name may be a terminal's NAME: 1 to [MaxName] letters,
// digits, dots, underscores and dashes, but not only a dot or two.
func ValidName(name string) bool {
	if name == "" || len(name) > MaxName || name == "." || name == ".." {
		return false
	}
	for i := range len(name) {
		switch c := name[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case c == '.', c == '_', c == '-':
		default:
			return false
		}
	}
	return true
}

// TerminalURI returns the channel of a terminal that termhost itself names.
func TerminalURI(name string) string { return "ahp-terminal:/" + name }

// FileURI returns the file URI of an absolute path.
func FileURI(p string) string {
	return (&url.URL{Scheme: "file", Path: p}).String()
}

// FilePath returns the absolute path that a file URI names. The URI's host must be
// empty or "localhost".
func FilePath(uri string) (string, bool) {
	if uri == "" { // of most terminals, in each listing
		return "", false
	}
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" ||
		u.Host != "" && !strings.EqualFold(u.Host, "localhost") ||
		!path.IsAbs(u.Path) || strings.IndexByte(u.Path, 0) >= 0 {
		return "", false
	}
	return path.Clean(u.Path), true
}
