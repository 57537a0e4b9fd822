"""Words for generated pages."""

from random import Random

_TEXTS = {
    "utf-8": "the spider walks over silk at dawn and café naïve 蜘蛛 の 巣 паутина δίχτυ threads of morning dew",
    "windows-1252": "élève à l’école où naît façon Straße über Größe señor mañana garçon crème brûlée",
    "shift_jis": "蜘蛛 の 巣 は 朝 露 に 光る 検索 する データ 東京 図書館 言葉 糸 世界",
    "gb18030": "爬虫 数据 网络 蜘蛛 早晨 露水 图书馆 世界 语言 搜索 引擎 北京 文字",
    "koi8-r": "паутина утро роса библиотека мир язык поиск слово нить Москва данные",
    "utf-16": "silk thread dawn паутина 蜘蛛 δίχτυ dew spider web archive",
}

_SYLLABLES = "ba be bi bo bu da de di do du ka ke ki ko ku la le li lo lu ma me mi mo mu na ne ni no nu ra ri ro ru ta te ti to tu"


def sentence(rng: Random, charset: str, count: int) -> str:
    return " ".join(rng.choices(_TEXTS[charset].split(), k=count))


def unique_word(number: int) -> str:
    """A made-up word that belongs to ``number`` alone and that no stemmer touches."""
    syllables = _SYLLABLES.split()
    digits: list[str] = []
    while number or not digits:
        number, digit = divmod(number, len(syllables))
        digits.append(syllables[digit])
    return "zq" + "".join(digits) + "x"
