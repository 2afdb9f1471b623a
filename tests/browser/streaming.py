"""A stream of Events made in the page itself, in place of the socket, and its frames measured."""

# The socket of the Run that is followed hands out what `EVENTS` holds: so many at a time, every
# 16 ms, as a training of a thousand steps a second would.
FAKE_SOCKET = """(() => {
    const Real = WebSocket;
    window.WebSocket = function (url, ...rest) {
        if (!url.includes("/ws/runs/")) return new Real(url, ...rest);
        const socket = { close() {} };
        window.stream = (events, each) => new Promise((resolve) => {
            let next = 0;
            const timer = setInterval(() => {
                const part = events.slice(next, next += each);
                if (part.length) socket.onmessage({ data: JSON.stringify(part) });
                if (next < events.length) return;
                clearInterval(timer);
                resolve();
            }, 16);
        });
        setTimeout(() => socket.onopen?.());
        return socket;
    };
})();"""
MEASURE = """async ({ events, each }) => {
    const frames = [];
    const long = [];
    new PerformanceObserver((list) => long.push(...list.getEntries().map((one) => one.duration)))
        .observe({ type: "longtask" });
    let on = true;
    let before = performance.now();
    requestAnimationFrame(function frame(now) {
        frames.push(now - before);
        before = now;
        if (on) requestAnimationFrame(frame);
    });
    const began = performance.now();
    await window.stream(events, each);
    const seconds = (performance.now() - began) / 1000;
    on = false;
    frames.sort((one, other) => one - other);
    const at = (share) => frames[Math.floor(share * (frames.length - 1))];
    return {
        seconds, frames: frames.length, median: at(.5), p95: at(.95), p99: at(.99), most: at(1),
        long,
    };
}"""
