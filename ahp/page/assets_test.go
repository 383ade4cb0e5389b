package page

import "testing"

// mostGzip is how much a browser may have to load for the page, in bytes, all of it compressed.
const mostGzip = 200 << 10

func TestThePageIsSmall(t *testing.T) {
	total := 0
	for path, a := range assets() {
		if len(a.gzip) == 0 {
			t.Errorf("%s is not compressed", path)
		}
		total += len(a.gzip)
	}
	t.Logf("%d bytes in %d files", total, len(assets()))
	if total == 0 || total > mostGzip {
		t.Errorf("the page has %d bytes, compressed; at most %d are good", total, mostGzip)
	}
}
