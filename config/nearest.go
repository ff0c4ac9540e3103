package config

import (
	"fmt"
	"strings"
)

// suggest says what to write instead of a word: the nearest known one if the
// word looks like a slip of it, else all of them.
func suggest(word string, known []string) string {
	if k := nearest(word, known); k != "" {
		return fmt.Sprintf("did you mean %s?", k)
	}
	return "write one of " + strings.Join(known, ", ")
}

// nearest returns the known word with the fewest edits from word, or "" if
// that takes more than one more than a third of its letters: two letters in the
// wrong order are two edits.
func nearest(word string, known []string) string {
	best, least := "", min(len(word), 20)/3+2
	for _, k := range known {
		if n := edits(strings.ToLower(word), k); n < least {
			best, least = k, n
		}
	}
	return best
}

// edits is the Levenshtein distance. Words much longer than b count as far.
func edits(a, b string) int {
	if len(a) > 2*len(b)+8 {
		return len(a)
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
