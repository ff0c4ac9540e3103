package runner

import "strconv"

// Storage is where tasks are stored, and how: as the process says that opens the
// directory.
type Storage struct {
	StateDir string
	// Node stands in front of the ids of tasks and sessions; empty for none.
	Node string
	// Stored tasks, and StoreBytes on disk, are the most; 0 is no limit.
	Stored     int
	StoreBytes int64
}

// Flags are how a front says that to the runner that it starts.
func (s Storage) Flags() []string {
	return []string{
		"--state-dir", s.StateDir, "--node", s.Node,
		"--stored", strconv.Itoa(s.Stored), "--store-bytes", strconv.FormatInt(s.StoreBytes, 10),
	}
}
