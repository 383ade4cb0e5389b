// Package spelling finds which of the known words a misspelt one may be.
package spelling

import (
	"fmt"
	"strings"
)

// Nearest returns the candidate that is most like word, or "" when none is so much like it that
// word may be a misspelling. A third of the letters may differ.
func Nearest(word string, candidates []string) string {
	word = strings.ToLower(word)
	best, bestDistance := "", (len(word)+2)/3+1
	for _, c := range candidates {
		if d := Distance(word, c); d < bestDistance {
			best, bestDistance = c, d
		}
	}
	return best
}

// maxAmong bounds how many words an error lists.
const maxAmong = 20

// Among returns what follows "there is no such word" in an error: ", but a, b", at most 20 of the
// known words, and which of them may be meant.
func Among(word string, known []string) string { return AmongShown(word, known, known) }

// AmongShown is Among for what is not shown by the known words alone.
func AmongShown(word string, all, known []string) string {
	if len(all) == 0 {
		return ""
	}
	shown := strings.Join(all[:min(len(all), maxAmong)], ", ")
	if more := len(all) - maxAmong; more > 0 {
		shown = fmt.Sprintf("%s and %d more", shown, more)
	}
	if near := Nearest(word, known); near != "" {
		shown += "; did you mean " + near + "?"
	}
	return ", but " + shown
}

// Distance returns how many bytes must be inserted, deleted or replaced to turn a into b (the
// Levenshtein distance). Its time grows with the product of their lengths.
func Distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			substitution := diagonal
			if a[i] != b[j] {
				substitution++
			}
			diagonal = row[j+1]
			row[j+1] = min(substitution, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// Near reports whether word is name with one letter wrong, missing, added, or two swapped.
func Near(name, word string) bool {
	a, b := name, word
	for a != "" && b != "" && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for a != "" && b != "" && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	swapped := len(a) == 2 && len(b) == 2 && a[0] == b[1] && a[1] == b[0]
	return max(len(name), len(word)) > 2 && word != "" && (len(a) <= 1 && len(b) <= 1 || swapped)
}
