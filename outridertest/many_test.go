package outridertest_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/outrider-run/outrider/internal/testing/browsertest"
	"github.com/outrider-run/outrider/outridertest"
)

// ordering is a server with a form, a list that it keeps for each customer, and an answer that takes a moment.
func ordering() http.Handler {
	var mu sync.Mutex
	orders := map[string][]string{}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "customer", Value: r.URL.Query().Get("customer")})
		fmt.Fprint(w, `<!doctype html><title>Orders</title><label>What <input id=what></label>
<button onclick="order()">Order</button><ul></ul><script>
async function order() {
	const answer = await fetch('/orders', {method: 'POST', body: what.value});
	const list = await answer.json();
	document.querySelector('ul').replaceChildren(...list.map(text => {
		const row = document.createElement('li');
		row.textContent = text;
		return row;
	}));
}
</script>`)
	})
	mux.HandleFunc("POST /orders", func(w http.ResponseWriter, r *http.Request) {
		customer, err := r.Cookie("customer")
		if err != nil {
			http.Error(w, "no customer", http.StatusUnauthorized)
			return
		}
		what := make([]byte, 100)
		n, _ := r.Body.Read(what)
		mu.Lock()
		defer mu.Unlock()
		orders[customer.Value] = append(orders[customer.Value], string(what[:n]))
		fmt.Fprintf(w, "[%q", orders[customer.Value][0])
		for _, more := range orders[customer.Value][1:] {
			fmt.Fprintf(w, ",%q", more)
		}
		fmt.Fprint(w, "]")
	})
	return mux
}

// TestManyTests runs tests of a Go server side by side, twice, and says what a test takes beside what it does.
func TestManyTests(t *testing.T) {
	tests := 20
	if browsertest.Long() {
		tests = 200
	}
	site := httptest.NewServer(ordering())
	t.Cleanup(site.Close)
	var mu sync.Mutex
	var beside []time.Duration
	for round := range 2 {
		began := time.Now()
		t.Run(fmt.Sprint("round ", round), func(t *testing.T) {
			for i := range tests {
				t.Run(fmt.Sprint(i), func(t *testing.T) {
					t.Parallel()
					begun := time.Now()
					var does time.Duration
					t.Cleanup(func() { // after the tab is closed
						mu.Lock()
						defer mu.Unlock()
						beside = append(beside, time.Since(begun)-does)
					})
					page := outridertest.Tab(t, "")
					opened := time.Now()
					page.Goto(fmt.Sprintf("%s/?customer=%d-%d", site.URL, round, i))
					for n, what := range []string{"tea", "rope"} {
						page.ByLabel("What").Fill(what)
						page.ByRole("button", "Order").Click()
						page.BySelector("li").Expect().Count(n + 1)
					}
					page.BySelector("li").Last().Expect().Text("rope")
					page.Expect().NoConsoleErrors()
					does = time.Since(opened)
				})
			}
		})
		took := time.Since(began)
		slices.Sort(beside)
		t.Logf("%d tests in %v, %v each; beside what a test does: median %v, 90 %% %v", tests,
			took.Round(time.Millisecond), (took / time.Duration(tests)).Round(time.Millisecond),
			beside[len(beside)/2].Round(time.Millisecond), beside[len(beside)*9/10].Round(time.Millisecond))
	}
}
