// Much of the standard library: generics, closures, deferred calls, methods through interfaces.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"sort"
	"strings"
	"sync"
)

type shape interface{ area() float64 }
type circle struct{ r float64 }
type square struct{ side float64 }

func (c circle) area() float64  { return 3.14 * c.r * c.r }
func (s *square) area() float64 { return s.side * s.side }

func fold[T any, R any](items []T, start R, step func(R, T) R) R {
	for _, item := range items {
		start = step(start, item)
	}
	return start
}

func risky(n int) (result int, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = errors.New(fmt.Sprint(r))
		}
	}()
	items := make([]int, n)
	return items[n], nil
}

func main() {
	shapes := []shape{circle{1}, &square{2}, circle{float64(len(os.Args))}}
	sum := fold(shapes, 0.0, func(a float64, s shape) float64 { return a + s.area() })
	words := strings.Fields("crash dump crash stack")
	counts := map[string]int{}
	for _, w := range words {
		counts[w]++
	}
	keys := make([]string, 0, len(counts))
	for k := range counts {
		keys = append(keys, k)
	}
	sort.Slice(keys, func(i, j int) bool { return counts[keys[i]] > counts[keys[j]] })
	var wait sync.WaitGroup
	results := make(chan int, 4)
	for i := 0; i < 4; i++ {
		wait.Add(1)
		go func(n int) { defer wait.Done(); results <- n * n }(i)
	}
	wait.Wait()
	_, err := risky(3)
	var out bytes.Buffer
	_ = json.NewEncoder(&out).Encode(map[string]any{"sum": sum, "keys": keys, "error": fmt.Sprint(err)})
	fmt.Println(out.String(), regexp.MustCompile(`c\w+`).FindAllString("crash core", -1), len(results))
}
