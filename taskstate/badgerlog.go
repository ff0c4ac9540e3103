package taskstate

import (
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/dgraph-io/badger/v4"
	"github.com/rs/zerolog"
)

var _ badger.Logger = (*badgerLog)(nil)

// badgerLog passes Badger's log on at debug level, whatever level Badger gives
// it: what matters to a user is said by this package.
type badgerLog struct {
	log        zerolog.Logger
	syncFailed atomic.Bool
}

// Errorf also catches what Badger logs and does not return: a failed sync of the
// value log, after which a commit is not durable, and a failed write of its
// garbage collection, after which the log has a hole.
func (l *badgerLog) Errorf(format string, args ...any) {
	if strings.HasPrefix(format, "Error while curlf sync") || strings.HasPrefix(format, "writeRequests:") {
		l.syncFailed.Store(true)
	}
	l.put("error", format, args)
}

func (l *badgerLog) Warningf(format string, args ...any) { l.put("warning", format, args) }
func (l *badgerLog) Infof(format string, args ...any)    { l.put("info", format, args) }
func (l *badgerLog) Debugf(string, ...any)               {} // several lines for every commit

func (l *badgerLog) put(level, format string, args []any) {
	if e := l.log.Debug(); e.Enabled() {
		e.Str("badger", level).Msg(strings.TrimSpace(fmt.Sprintf(format, args...)))
	}
}
