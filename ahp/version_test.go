package ahp_test

import (
	"strings"
	"testing"

	"termhost/ahp"
)

func TestNegotiatePicksTheHighestOfferedVersionThatFits(t *testing.T) {
	for _, tc := range []struct {
		offered []string
		want    string // "" for none
		shape   ahp.Shape
	}{
		{nil, "", 0},
		{[]string{"0.3.0"}, "0.3.0", ahp.ShapeExitCode},
		{[]string{"0.8"}, "0.8", ahp.ShapeExitCode},
		{[]string{"0.8.99"}, "0.8.99", ahp.ShapeExitCode},
		{[]string{"0.9.0"}, "0.9.0", ahp.ShapeLifecycle},
		{[]string{"1.0.0"}, "1.0.0", ahp.ShapeLifecycle},
		{[]string{"1.17.3"}, "1.17.3", ahp.ShapeLifecycle},
		{[]string{"0.5.0", "0.9.1", "0.7.0"}, "0.9.1", ahp.ShapeLifecycle},
		{[]string{"0.9.2", "0.9.10"}, "0.9.10", ahp.ShapeLifecycle},
		{[]string{"1.0.0", "0.9.0"}, "1.0.0", ahp.ShapeLifecycle},
		{[]string{"2.0.0", "0.4.0"}, "0.4.0", ahp.ShapeExitCode},
		{[]string{"0.10.0"}, "0.10.0", ahp.ShapeLifecycle},
		{[]string{"0.9.0", "0.10.2"}, "0.10.2", ahp.ShapeLifecycle},
		{[]string{"0.11.0", "0.9.0"}, "0.9.0", ahp.ShapeLifecycle},
		// These are the same; the peer prefers the one that it names first.
		{[]string{"1.0", "1.0.0"}, "1.0", ahp.ShapeLifecycle},
		{[]string{"1.0.0-rc.1", "0.6.0"}, "0.6.0", ahp.ShapeExitCode},
		{[]string{"0.1.0", "0.2.9", "0.11.0", "2.0.0"}, "", 0},
		{[]string{"", "1", "v1.0.0", "1.0.0 ", " 1.0.0", "1.00.0", "01.0.0", "1.-1", "+1.0",
			"1.0.0.0", "1..0", "1.x", "1.99999999999.0", "latest"}, "", 0},
	} {
		v, ok := ahp.Negotiate(tc.offered)
		if ok != (tc.want != "") || v.String() != tc.want {
			t.Errorf("%q: got %q, %v; want %q", tc.offered, v, ok, tc.want)
		}
		if ok && v.Shape() != tc.shape {
			t.Errorf("%q has the wrong shape", v)
		}
	}
}

func TestEverySupportedVersionIsAccepted(t *testing.T) {
	for _, s := range ahp.SupportedVersions() {
		if v, ok := ahp.Negotiate([]string{s}); !ok || v.String() != s {
			t.Errorf("%s is named as supported and refused", s)
		}
		if strings.Count(s, ".") != 2 {
			t.Errorf("%s is announced without its three parts", s)
		}
	}
}
