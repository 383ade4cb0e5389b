package ahp

import (
	"strconv"
	"strings"
)

// Version is a negotiated protocol version. The zero Version is none.
type Version struct {
	Major, Minor, Patch int

	raw string
}

// SupportedVersions lists the first version of every minor release that termhost
// supports, newest first, each as MAJOR.MINOR.PATCH.
func SupportedVersions() []string {
	return []string{
		"1.0.0", "0.10.0", "0.9.0", "0.8.0", "0.7.0", "0.6.0", "0.5.0", "0.4.0", "0.3.0",
	}
}

// ParseVersion parses MAJOR.MINOR.PATCH, which versions of AHP are written as, and MAJOR.MINOR,
// which some clients send. Pre-releases and anything else that is not such a version are refused.
func ParseVersion(s string) (Version, bool) {
	fields := strings.Split(s, ".")
	if len(fields) < 2 || len(fields) > 3 {
		return Version{}, false
	}
	var n [3]int
	for i, f := range fields {
		v, err := strconv.ParseUint(f, 10, 16)
		if err != nil || strconv.FormatUint(v, 10) != f {
			return Version{}, false
		}
		n[i] = int(v)
	}
	return Version{Major: n[0], Minor: n[1], Patch: n[2], raw: s}, true
}

// Negotiate picks the highest offered version that termhost supports: 0.3 to 0.10, whose
// minor releases may be incompatible, and every 1.x, whose minor releases are not. The
// result is false if there is none.
func Negotiate(offered []string) (Version, bool) {
	var best Version
	for _, s := range offered {
		v, ok := ParseVersion(s)
		if !ok || !v.supported() {
			continue
		}
		if best.raw == "" || best.less(v) {
			best = v
		}
	}
	return best, best.raw != ""
}

func (v Version) supported() bool {
	return v.Major == 1 || v.Major == 0 && v.Minor >= 3 && v.Minor <= 10
}

func (v Version) less(w Version) bool {
	if v.Major != w.Major {
		return v.Major < w.Major
	}
	if v.Minor != w.Minor {
		return v.Minor < w.Minor
	}
	return v.Patch < w.Patch
}

// String returns the version exactly as it was offered.
func (v Version) String() string { return v.raw }

// Shape returns the shape that terminals have on the wire in this version.
func (v Version) Shape() Shape {
	if v.Major == 0 && v.Minor < 9 {
		return ShapeExitCode
	}
	return ShapeLifecycle
}

// HasEnvironment reports whether the result of initialize has an environment in this version.
func (v Version) HasEnvironment() bool { return v.Major >= 1 }

// Shape is a form that terminals, and the actions that contain them, have on the wire.
type Shape uint8

const (
	// ShapeExitCode is that of 0.3 to 0.8: an exited terminal has an exitCode.
	ShapeExitCode Shape = iota
	// ShapeLifecycle is that of 0.9, 0.10 and 1.x: a terminal has a lifecycle, and a
	// session's claim names a chat.
	ShapeLifecycle

	// Shapes is the number of shapes.
	Shapes = iota
)
