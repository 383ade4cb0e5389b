package page

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"html"
	"net/http"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Refuse answers a browser that goes to an address and is refused with a page that says why and
// what to do. It reports false, and does nothing, for all other requests.
func Refuse(w http.ResponseWriter, r *http.Request, status int, reason string) bool {
	if r.Method != http.MethodGet || !strings.Contains(r.Header.Get("Accept"), "text/html") {
		return false
	}
	SetHeaders(w.Header())
	w.Header().Set("Content-Security-Policy", refusalPolicy())
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, refusalPage, // a peer that left needs no answer
		html.EscapeString(http.StatusText(status)), html.EscapeString(sentence(reason)),
		refusalStyle, refusalScript)
	return true
}

// sentence writes a reason as a sentence.
func sentence(reason string) string {
	first, size := utf8.DecodeRuneInString(reason)
	return string(unicode.ToUpper(first)) + strings.TrimSuffix(reason[size:], ".") + "."
}

// refusalPage needs no file of the page: under a name that is refused there is none.
const refusalPage = `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>termhost: %[1]s</title>
<style>%[3]s</style>
<h1>%[1]s</h1>
<p>%[2]s</p>
<p>To open the page, type this where you have ssh, and open what it prints:</p>
<p class="typed"><code>ssh HOST page</code> <button type="button">Copy</button></p>
<p>HOST is what ssh calls the host. There, <code>termhost page HOST</code> does all of it, with a
forwarded port and the browser.</p>
<script>%[4]s</script>
</html>
`

// refusalStyle makes it look like what the page itself says in such cases.
const refusalStyle = `
:root { color-scheme: light dark }
body { font: 15px/1.6 system-ui, sans-serif }
body { max-width: 35rem; margin: 18vh auto 0; padding: 0 1.5rem }
h1 { font-size: 24px; font-weight: 600 }
code { font: 13px ui-monospace, monospace; padding: 1px 6px }
code { border: 1px solid; border-radius: 5px }
.typed code { user-select: all }
button { font: inherit; padding: 0 12px }
`

// refusalScript copies the line, or selects it where browsers let no page copy: in those that are
// not secure.
const refusalScript = `
document.querySelector('button').onclick = ({ target }) => {
  const code = document.querySelector('.typed code');
  const select = () => getSelection().selectAllChildren(code);
  if (!navigator.clipboard) return select();
  const done = () => { target.textContent = 'Copied'; };
  navigator.clipboard.writeText(code.textContent).then(done, select);
};
`

// refusalPolicy allows that style, that script and nothing else.
var refusalPolicy = sync.OnceValue(func() string {
	hash := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	return "default-src 'none'; style-src " + hash(refusalStyle) + "; script-src " +
		hash(refusalScript) + "; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
})
