package proxy

import "testing"

func TestProgressInWords(t *testing.T) {
	for params, want := range map[string]string{
		`{"progress":3,"total":10,"message":"linking"}`: "3/10 linking",
		`{"progress":3,"total":10}`:                     "3/10",
		`{"progress":55,"total":100}`:                   "55 %",
		`{"progress":55,"total":100,"message":"up"}`:    "55 % up",
		`{"progress":0.5,"total":1}`:                    "0.5/1",
		`{"progress":7,"message":"still at it"}`:        "still at it",
		`{"progress":7}`:                                "7",
		`{"progress":7,"total":null}`:                   "7",
		`{"progress":9007199254740993,"total":1e30}`:    "9007199254740993/1e30",
		`{}`: "",
	} {
		if got := statusMessage([]byte(params)); got != want {
			t.Errorf("statusMessage(%s) = %q, want %q", params, got, want)
		}
	}
}

func TestProgressKeepsTheServersNumbers(t *testing.T) {
	got := string(progressMeta([]byte(`{"progressToken":4,"progress":1.0,"total":9007199254740993,"x":1}`)))
	if want := `{"progress":1.0,"total":9007199254740993}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
