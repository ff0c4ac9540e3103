package config

import (
	"fmt"
	"io"
	"os"
)

// maxFile bounds what is read of a file, in bytes, before anything looks at it.
const maxFile = 1 << 20

// Load reads the file at path. A file that cannot be read gives an error that
// wraps *fs.PathError; mistakes in it give one line each.
func Load(path string, opts *Options) (Config, error) {
	f, err := os.Open(path)
	if err != nil {
		return Config{}, fmt.Errorf("%w; write the path of a readable YAML file", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return Config{}, fmt.Errorf("%w; write the path of a readable YAML file", err)
	}
	return Parse(path, data, opts)
}

// Parse is Load for a file that was read already. The name stands at the head
// of every mistake, and a relative state_dir starts from its directory.
func Parse(name string, data []byte, opts *Options) (Config, error) {
	r := &reader{name: name, places: map[string]place{}}
	doc := document{Config: Default()}
	if root := r.parse(data); root != nil {
		r.document(root, &doc)
	}
	if len(r.mistakes) == 0 {
		r.checkAfter(&doc)
		r.checkServer(&doc)
		r.checkFallback(doc.Fallback)
		r.checkUpstreamTasks(&doc)
	}
	if len(r.mistakes) > 0 {
		return Config{}, r.err()
	}
	return doc.merged(opts), nil
}
