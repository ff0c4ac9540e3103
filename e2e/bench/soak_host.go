package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// What hosts do, and what is done to processes.
const (
	deedCall = iota
	deedTask
	deedCancel
	deedLarge
	deedListen
	deedForged
	deedBroken
	deedOld
	deedFault
	soakDeeds
)

var deedNames = [soakDeeds]string{
	"calls that are no tasks", "tasks from call to result", "tasks cancelled", "large results read as resources", "streams for a task",
	"forged ids refused", "requests broken off", "old handles that still answer", "processes ended",
}

// soakHost is one host, whose answers are checked.
type soakHost struct {
	*soak
	client *http.Client
	rand   *rand.Rand
	old    []oldTask // that it has seen the end of
}

type oldTask struct {
	id     string
	status string
	until  time.Time // it is kept
}

func newSoakHost(s *soak, r *rand.Rand) *soakHost {
	return &soakHost{soak: s, client: &http.Client{Transport: &http.Transport{}, Timeout: 30 * time.Second}, rand: r}
}

func (h *soakHost) live() {
	defer h.client.CloseIdleConnections()
	deeds := []func() (deed int, err error){h.plainCall, h.task, h.task, h.cancelled, h.large, h.listening, h.forged, h.broken, h.ask}
	for h.pause(time.Duration(h.rand.IntN(40)) * time.Millisecond) {
		begun := time.Now()
		deed, err := deeds[h.rand.IntN(len(deeds))]()
		switch {
		case err == nil:
			h.did[deed].Add(1)
		case errors.Is(err, errWrong) || !h.troubled(begun):
			h.fault("%s: %v", deedNames[deed], err)
		}
	}
}

// errWrong is wrong whatever happens to the processes.
var errWrong = errors.New("wrong")

func (h *soakHost) begin(q shape, method, name string) (*http.Response, error) {
	r := must(http.NewRequest(http.MethodPost, "http://"+h.address+"/mcp", bytes.NewReader(bytes.TrimSuffix(q.line(nil, 1), []byte("\n")))))
	r.Header = statelessHeader(method, name)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	return h.client.Do(r)
}

// post returns the whole answer; errors are those of the connection.
func (h *soakHost) post(q shape, method, name string) (string, error) {
	response, err := h.begin(q, method, name)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return string(text), err
}

func (h *soakHost) plainCall() (int, error) {
	text, err := h.post(call(h.rand.IntN(20_000), meta, ""), "tools/call", "echo")
	if err == nil && !strings.Contains(text, `"resultType":"complete"`) {
		err = fmt.Errorf("answered %.300s", text)
	}
	return deedCall, err
}

// slow is the name of the tool whose calls are tasks.
func slow(size int, args string) shape {
	return shape{strings.Replace(call(size, meta, args).tail, `"name":"echo"`, `"name":"slow"`, 1)}
}

func (h *soakHost) create(size int, args string) (id string, err error) {
	text, err := h.post(slow(size, args), "tools/call", "slow")
	if err == nil && !strings.Contains(text, `"resultType":"task"`) {
		err = fmt.Errorf("no task: %.300s", text)
	}
	return between([]byte(text), `"taskId":"`, '"'), err
}

// end polls until the task has ended. However often the proxy is ended, the handle
// stays good.
func (h *soakHost) end(id string) (status, text string, err error) {
	for began := time.Now(); time.Since(began) < time.Minute; time.Sleep(20 * time.Millisecond) {
		text, err = h.post(getTask(id), "tasks/get", "")
		if err != nil || isAway(text) {
			continue
		}
		if strings.Contains(text, `"code":-32602`) {
			return "", text, fmt.Errorf("%w: task %s is not known any more: %s", errWrong, id, text)
		}
		if status = between([]byte(text), `"status":"`, '"'); status == "completed" || status == "failed" || status == "cancelled" {
			h.remember(id, status)
			return status, text, nil
		}
	}
	return "", text, fmt.Errorf("%w: task %s does not end: %.300s %v", errWrong, id, text, err)
}

// isAway tells the answer of a proxy that ends from a task that ended with it.
func isAway(text string) bool {
	return strings.Contains(text, `"reason":"shutdown"`) && !strings.Contains(text, `"status":`)
}

func (h *soakHost) remember(id, status string) {
	h.old = append(h.old, oldTask{id, status, time.Now().Add(soakTTL / 2)})
	if len(h.old) > 100 {
		h.old = h.old[50:]
	}
}

func (h *soakHost) task() (int, error) {
	begun := time.Now()
	size := 300 + h.rand.IntN(100_000)
	id, err := h.create(size, hold)
	if err != nil {
		return deedTask, err
	}
	status, text, err := h.end(id)
	if err == nil && status != "completed" {
		if !h.troubled(begun) {
			err = fmt.Errorf("%w: it is %s: %.500s", errWrong, status, text)
		} else {
			err = errors.New("lost with a process")
		}
	}
	return deedTask, err
}

func (h *soakHost) cancelled() (int, error) {
	id, err := h.create(300, hold)
	if err != nil {
		return deedCancel, err
	}
	if _, err = h.post(request("tasks/cancel", meta+`,"taskId":"`+id+`"`), "tasks/cancel", ""); err != nil {
		return deedCancel, err
	}
	_, _, err = h.end(id)
	return deedCancel, err
}

func (h *soakHost) large() (int, error) {
	size := 300_000 + h.rand.IntN(1_000_000)
	id, err := h.create(300, `"bytes":`+strconv.Itoa(size))
	if err != nil {
		return deedLarge, err
	}
	_, text, err := h.end(id)
	uri := between([]byte(text), `"type":"resource_link","uri":"`, '"')
	if err == nil && uri == "" {
		_, after, _ := strings.Cut(text, `"type":"resource_link","uri":"`)
		uri, _, _ = strings.Cut(after, `"`)
	}
	if err != nil || uri == "" {
		return deedLarge, errors.Join(err, fmt.Errorf("no link: %.300s", text))
	}
	text, err = h.post(request("resources/read", meta+`,"uri":"`+uri+`"`), "resources/read", uri)
	if err == nil && len(text) < size {
		err = fmt.Errorf("of %d bytes there came %d: %.300s", size, len(text), text)
	}
	return deedLarge, err
}

// listening hears of the end of its task.
func (h *soakHost) listening() (int, error) {
	id, err := h.create(300, hold)
	if err != nil {
		return deedListen, err
	}
	response, err := h.begin(request("subscriptions/listen", meta+`,"notifications":{"taskIds":["`+id+`"]}`), "subscriptions/listen", "")
	if err != nil {
		return deedListen, err
	}
	defer response.Body.Close()
	for buffer, seen := make([]byte, 32<<10), ""; err == nil; {
		var n int
		n, err = response.Body.Read(buffer)
		seen += string(buffer[:n])
		if strings.Contains(seen, `"status":"completed"`) || strings.Contains(seen, `"status":"failed"`) {
			return deedListen, nil
		}
	}
	return deedListen, err
}

func (h *soakHost) forged() (int, error) {
	id := make([]byte, 26)
	for i := range id {
		id[i] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"[h.rand.IntN(32)]
	}
	text, err := h.post(getTask(string(id)), "tasks/get", "")
	if err == nil && !strings.Contains(text, `"code":-32602`) {
		err = fmt.Errorf("a made-up id: %.300s", text)
	}
	return deedForged, err
}

// broken leaves in the middle of a request, or says what is none.
func (h *soakHost) broken() (int, error) {
	conn, err := net.Dial("tcp", h.address)
	if err != nil {
		return deedBroken, err
	}
	defer conn.Close()
	text := "POST /mcp HTTP/1.1\r\nHost: " + h.address + "\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n{\"jsonrpc\":"
	_, err = conn.Write([]byte(text[:1+h.rand.IntN(len(text)-1)]))
	if errors.Is(err, syscall.ECONNRESET) || errors.Is(err, os.ErrDeadlineExceeded) {
		err = nil
	}
	return deedBroken, err
}

// ask asks for a task whose end it has seen, as long as it must be there.
func (h *soakHost) ask() (int, error) {
	if len(h.old) == 0 {
		return h.forged()
	}
	old := h.old[h.rand.IntN(len(h.old))]
	text, err := h.post(getTask(old.id), "tasks/get", "")
	switch {
	case err != nil || time.Now().After(old.until):
	case between([]byte(text), `"status":"`, '"') != old.status:
		err = fmt.Errorf("%w: task %s was %s, and is: %.300s", errWrong, old.id, old.status, text)
		if isAway(text) {
			err = errors.New("shutting down")
		}
	}
	return deedOld, err
}
