// Nothing to install: go run judge.go. Over HTTP, so the server has PRECIS_HTTP__ENABLED=true.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"strings"
)

type answer struct {
	Result struct {
		Frameworks []struct {
			Metrics []struct {
				Name  string
				Score float64
			}
		}
	}
	Detail string // of a problem, RFC 9457
}

func main() {
	address := os.Getenv("PRECIS_HTTP_URL")
	if address == "" {
		address = "http://127.0.0.1:8080"
	}
	body, _ := json.Marshal(map[string]string{
		"source":  "Repairs cost 4.2 million dollars.",
		"summary": "Repairs cost 42 million dollars.",
	})
	response, err := http.Post(address+"/v1/judge", "application/json", bytes.NewReader(body))
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	var judged answer
	if err := json.NewDecoder(response.Body).Decode(&judged); err != nil {
		log.Fatal(err)
	}
	if response.StatusCode != http.StatusOK {
		log.Fatal(judged.Detail)
	}
	for _, metric := range judged.Result.Frameworks[0].Metrics {
		if strings.HasSuffix(metric.Name, "HALLUCINATION") {
			fmt.Println("hallucination", metric.Score)
		}
	}
}
