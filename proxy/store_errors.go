package proxy

import (
	"errors"
	"strings"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/taskstate"
)

// StoreText is what a host may read of an error of the task store, to stand in a
// sentence. What the error itself says, with the paths on this machine, is for the
// log: whoever answers with this text writes it there.
func StoreText(err error) string {
	var damaged *taskstate.DamagedError
	var full *taskstate.LimitError
	switch {
	case errors.As(err, &full):
		return full.Error()
	case errors.As(err, &damaged):
		return "what it has stored is damaged; whoever runs the proxy finds more in its log"
	case errors.Is(err, taskstate.ErrNoSpace):
		return "there is not enough free disk space; free some"
	case errors.Is(err, taskstate.ErrTooLarge):
		return "it is too large to be stored"
	case errors.Is(err, taskstate.ErrClosed):
		return "it is shutting down"
	}
	return "its task store failed; whoever runs the proxy finds more in its log"
}

// duration is written as in the configuration: no minutes and seconds that are none.
func duration(d time.Duration) string {
	text := d.String()
	if short, ok := strings.CutSuffix(text, "m0s"); ok {
		text = short + "m"
	}
	if short, ok := strings.CutSuffix(text, "h0m"); ok {
		text = short + "h"
	}
	return text
}
