package admit

import "testing"

func TestATallyForgetsWhoHasNothing(t *testing.T) {
	t.Parallel()
	var s Tally
	if own, all := s.Add("a", 3); own != 3 || all != 3 {
		t.Error(own, all)
	}
	if own, all := s.Add("b", 5); own != 5 || all != 8 {
		t.Error(own, all)
	}
	if s.AddUpTo(5, "a", 3) || !s.AddUpTo(6, "a", 3) {
		t.Error("a may have 6")
	}
	if own, all := s.Add("a", -6); own != 0 || all != 5 || len(s.accounts) != 1 {
		t.Error(own, all, s.accounts)
	}
}

func TestWhatGoesFirstIsTheOldestOfWhoHasMost(t *testing.T) {
	t.Parallel()
	items := []string{"a1", "b1", "b2", "a2", "b3"}
	owner := func(s string) string { return s[:1] }
	one := func(string) int64 { return 1 }
	if got := OldestOfLargest(items, owner, one); got != 1 {
		t.Errorf("%s goes", items[got])
	}
	large := func(s string) int64 { return int64(len(s)) + int64('b'-s[0])*10 }
	if got := OldestOfLargest(items, owner, large); got != 0 {
		t.Errorf("%s goes", items[got])
	}
}
