import jayson from "jayson/promise/index.js";

const server = new jayson.Server({
  add: async ([a, b]) => a + b,
  divide: async ({ dividend, divisor }) => {
    if (divisor === 0) return Promise.reject({ code: 1001, message: "Division by zero" });
    return dividend / divisor;
  },
});

const http = server.http();
http.listen(0, "127.0.0.1", async () => {
  const client = jayson.Client.http({ host: "127.0.0.1", port: http.address().port });
  console.log((await client.request("add", [2, 3])).result);
  console.log((await client.request("divide", { dividend: 1, divisor: 4 })).result);
  const { error } = await client.request("divide", { dividend: 1, divisor: 0 });
  console.log(error.code, error.message);
  http.close();
});
