"""The same crawl with Scrapy and its link extractor: scrapy runspider scrapy_spider.py -a url=http://…"""

import re
from collections.abc import Iterator
from urllib.parse import urljoin

import scrapy  # type: ignore[import-not-found]  # it lives in an environment of its own
from scrapy.linkextractors import LinkExtractor  # type: ignore[import-not-found]


class SiteSpider(scrapy.Spider):  # type: ignore[misc]  # its type is not known here
    """Every page of one host, links and text taken out, nothing kept."""

    name = "site"
    custom_settings = {  # noqa: RUF012  # as Scrapy wants it; everything else as it comes
        "ROBOTSTXT_OBEY": True,
        "DOWNLOAD_DELAY": 0,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 16,
        "LOG_LEVEL": "ERROR",
        "TELNETCONSOLE_ENABLED": False,
    }

    def __init__(self, url: str) -> None:
        super().__init__()
        self.start_urls = [url]
        self.links = LinkExtractor(allow=f"^{re.escape(urljoin(url, '/'))}")

    def parse(self, response: "scrapy.http.Response") -> Iterator["scrapy.Request"]:
        """Follow the links of a page."""
        if isinstance(response, scrapy.http.HtmlResponse):
            yield from response.follow_all(self.links.extract_links(response), callback=self.parse)
